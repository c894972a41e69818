"""`flarebed dev`: the process that holds socket and terminal, and the processes it makes to run the Worker."""
