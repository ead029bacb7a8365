// Adopts the style sheet of what the first screen does without.
import './later.css?adopted'
