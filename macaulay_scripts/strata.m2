-- Every point of M(d,d',a) at once: the orbits, with dimensions and tangent spaces. Change the sizes at will.
needsPackage "LightningAttention"

(d,e,a) = (3,1,3)
print("M" | toString(d,e,a) | ": dimension " | neuroDimension(d,e,a) | ", degree " | neuroDegree(d,e,a))
print "ranks of V, A, [V; A^T]; dimension; tangent vectors; singular"
for s in strata(d,e,a) do
    print(s, stratumDimension(d,e,s), rank tangentVectors(a, representative(d,e,s)), isSingularStratum(d,e,a,s))
