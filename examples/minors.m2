-- The 2 x 2 minors of the coefficients of two proportional quadrics, by hand
ideal(
  y_(1,1,1,1)*y_(1,2,1,2) - y_(1,1,1,2)*y_(1,2,1,1),
  y_(1,1,1,1)*y_(1,2,2,2) - y_(1,1,2,2)*y_(1,2,1,1),
  y_(1,1,1,2)*y_(1,2,2,2) + y_(1,1,2,2)*y_(1,2,1,2))
