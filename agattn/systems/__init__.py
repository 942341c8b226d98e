"""What is found out about architectures, by engines and natively, and the polynomial problems of engines.

``problem`` says what a task, a problem and an answer are; ``catalogue`` has all tasks, and builds problems
from what is given; ``points`` has the points for them; ``consistency`` has what is known natively of an
answer, and what must hold of it. The tasks are about the ideals of layers (``ideal_tasks``), their strata,
points and fibers (``layer_tasks``), critical points of losses (``critical_tasks``), networks
(``network_tasks``) and any models (``model_tasks``).
"""
