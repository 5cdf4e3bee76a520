"""The Berkeley Function Calling Leaderboard (BFCL), version 4, as environments."""
