-- M(2,1,2), the smallest interesting layer: a quartic hypersurface (Figure 1 of the paper)
needsPackage "LightningAttention"

(d,e,a) = (2,1,2)
I = neuroIdeal(d,e,a)
S = ring I
print I_0

-- It is the resultant of the quadratic forms y_1 = V_1 A_1 and y_2 = V_1 A_2, which have the factor V_1 in common
f = S_*
sylvester = matrix{
    {f#0, f#1, f#2, 0}, {0, f#0, f#1, f#2},
    {f#3, f#4, f#5, 0}, {0, f#3, f#4, f#5}}
print(I == ideal det sylvester)

-- Its singular points are those with rk A <= 1 and rk V <= 1: a threefold of degree 3 in P^5
J = radical(I + ideal jacobian I)
print(J == rankOneLocus(d,e), codim J, degree J)

-- Slice by y_1 = u^2 + W v^2, y_2 = X u v + Y v^2: the Whitney umbrella
T = QQ[X,Y,W]
print((map(T, S, {1,0,W,0,X,Y})) I)
