"""What commands, jobs and screens all call; knows neither of them."""
