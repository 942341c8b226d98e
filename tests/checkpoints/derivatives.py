"""Derivatives backwards over any scalars that Python adds, multiplies and divides: balls, or residues.

A function is evaluated on object arrays of :class:`Number`. Each number remembers of which others it was
made, with its derivatives by them. Cotangents are pulled back through that record, many at a time.
"""

import numpy as np


class Tape:
    """The steps of a computation: of each number those that it was made of, and its derivatives by them."""

    def __init__(self):
        self.steps = []

    def number(self, value, *arguments):
        """A number with this value, made of those with these indices; the derivative ``None`` means 1."""
        self.steps.append(arguments)
        return Number(self, len(self.steps) - 1, value)

    def numbers(self, values):
        """An array of scalars as arguments of a function."""
        return np.frompyfunc(self.number, 1, 1)(values)

    def pulled_back(self, outputs, cotangents, count):
        """The derivatives of Σ c_i f_i by the first numbers, one row for each row c of the cotangents."""
        sums = [None] * len(self.steps)

        def add(index, part):
            sums[index] = part if sums[index] is None else sums[index] + part

        for output, column in zip(outputs.ravel(), cotangents.T, strict=True):
            add(output.index, column)
        for index in reversed(range(count, len(self.steps))):
            if sums[index] is not None:
                for argument, slope in self.steps[index]:
                    add(argument, sums[index] if slope is None else sums[index] * slope)
                sums[index] = None
        zero = 0 * cotangents[:, 0]
        return np.array([zero if column is None else column for column in sums[:count]]).T


class Number:
    """A scalar on a tape."""

    __slots__ = ("index", "tape", "value")
    __array_ufunc__ = None

    def __init__(self, tape, index, value):
        self.tape, self.index, self.value = tape, index, value

    def __add__(self, other):
        if isinstance(other, Number):
            return self.tape.number(self.value + other.value, (self.index, None), (other.index, None))
        return self.tape.number(self.value + other, (self.index, None))

    def __neg__(self):
        return self.tape.number(-self.value, (self.index, -1))

    def __sub__(self, other):
        if isinstance(other, Number):
            return self.tape.number(self.value - other.value, (self.index, None), (other.index, -1))
        return self.tape.number(self.value - other, (self.index, None))

    def __rsub__(self, other):
        return self.tape.number(other - self.value, (self.index, -1))

    def __mul__(self, other):
        if isinstance(other, Number):
            factors = (self.index, other.value), (other.index, self.value)
            return self.tape.number(self.value * other.value, *factors)
        return self.tape.number(self.value * other, (self.index, other))

    def __truediv__(self, other):
        if not isinstance(other, Number):
            return self.tape.number(self.value / other, (self.index, self.value**0 / other))
        ratio = self.value / other.value
        return self.tape.number(ratio, (self.index, 1 / other.value), (other.index, -ratio / other.value))

    def __rtruediv__(self, other):
        ratio = other / self.value
        return self.tape.number(ratio, (self.index, -ratio / self.value))

    def __pow__(self, power):
        return self.tape.number(self.value**power, (self.index, power * self.value ** (power - 1)))

    __radd__, __rmul__ = __add__, __mul__

    def sqrt(self):
        root = self.value.sqrt()
        return self.tape.number(root, (self.index, 1 / (2 * root)))

    def exp(self):
        power = self.value.exp()
        return self.tape.number(power, (self.index, power))

    def tanh(self):
        y = self.value.tanh()
        return self.tape.number(y, (self.index, 1 - y * y))

    def __gt__(self, other):
        """Whether a ball lies above another; an ArithmeticError where they meet."""
        if self is other:
            return False
        difference = self.value - (other.value if isinstance(other, Number) else other)
        if not (difference > 0 or difference < 0):
            raise ArithmeticError("neither ball lies above the other")
        return difference > 0

    def __lt__(self, other):
        return self is not other and not self > other

    def __ge__(self, other):
        return not self < other
