"""What can be studied: the layer and the network, and the maps that they are."""
