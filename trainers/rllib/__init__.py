"""PPO through RLlib: token by token, and as a choice among offered candidates."""
