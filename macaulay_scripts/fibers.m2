-- Which weights give the same layer? Theorem 3.2: if A = k q^T and V = h v^T, also those of (v q^T, h k^T);
-- else only (s A, V/s). Here for d = 2, d' = 1, over every stratum but 0.
needsPackage "LightningAttention"

(d,e,a) = (2,1,2)
F = parametrization(d,e,a)
R = target F
for s in drop(strata(d,e,a),1) do (
    point := coefficientVector representative(d,e,s);
    fiber := decompose ideal(F.matrix - sub(point,R));
    print(s, #fiber, apply(fiber, dim));
    scan(fiber, C -> print("    " | toString C)))
