"""Re-identification: CMC in its conventions, mAP, mINP, and open-world GOM."""
