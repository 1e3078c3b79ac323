"""A comparison measure by measure, for tests that ask the same of all."""

import itertools

import xarray as xr


def by_measure(ds: xr.Dataset) -> dict[str, xr.Dataset]:
    """Map each measure, named as in ``cms=5``, to its numbers without the name."""
    results = {}
    for name in (x for x in ds.data_vars if f"{x}_separated" in ds):
        own = {"value": ds[name]}
        for variable in ds.data_vars:
            if ds[variable].attrs.get("measure") == name:
                own[variable.removeprefix(f"{name}_")] = ds[variable]
        dims = [dim for dim in ds[name].dims if dim != "system"]
        for labels in itertools.product(*(ds[dim].values.tolist() for dim in dims)):
            place = dict(zip(dims, labels, strict=True))
            numbers = xr.Dataset(
                {key: x.sel(place).reset_coords(drop=True) for key, x in own.items()}
            )
            if not numbers["discordant"].isnull().any():
                results["=".join((name, *(f"{x:g}" for x in labels[:1])))] = numbers
    return results
