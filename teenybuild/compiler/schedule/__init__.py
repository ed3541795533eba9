"""Tile IR with layouts → tile IR with layouts: what runs beside the program, and when it is waited for."""
