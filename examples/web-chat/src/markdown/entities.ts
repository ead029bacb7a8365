import { isEscapable } from './link-parts.ts'

/** The names of the characters from U+00A0 to U+00FF. */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro ' +
  'para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil ' +
  'Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave ' +
  'Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml ' +
  'igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute ' +
  'thorn yuml'

/** A character, and its name. */
const OTHERS =
  '&amp <lt >gt "quot \'apos ŒOElig œoelig ŠScaron šscaron ŸYuml ƒfnof ˆcirc ˜tilde \u2002ensp \u2003emsp \u2009thinsp ' +
  '\u200czwnj \u200dzwj –ndash —mdash ‘lsquo ’rsquo ‚sbquo “ldquo ”rdquo „bdquo †dagger ‡Dagger •bull …hellip ‰permil ' +
  '′prime ″Prime ‹lsaquo ›rsaquo ‾oline ⁄frasl €euro ℑimage ℘weierp ℜreal ™trade ℵalefsym ←larr ↑uarr →rarr ↓darr ' +
  '↔harr ↵crarr ⇐lArr ⇑uArr ⇒rArr ⇓dArr ⇔hArr ∀forall ∂part ∃exist ∅empty ∇nabla ∈isin ∉notin ∋ni ∏prod ∑sum −minus ' +
  '∗lowast √radic ∝prop ∞infin ∠ang ∧and ∨or ∩cap ∪cup ∫int ∴there4 ∼sim ≅cong ≈asymp ≠ne ≡equiv ≤le ≥ge ⊂sub ⊃sup ' +
  '⊄nsub ⊆sube ⊇supe ⊕oplus ⊗otimes ⊥perp ⋅sdot ⌈lceil ⌉rceil ⌊lfloor ⌋rfloor ⟨lang ⟩rang ◊loz ♠spades ♣clubs ♥hearts ' +
  '♦diams ΑAlpha ΒBeta ΓGamma ΔDelta ΕEpsilon ΖZeta ΗEta ΘTheta ΙIota ΚKappa ΛLambda ΜMu ΝNu ΞXi ΟOmicron ΠPi ΡRho ' +
  'ΣSigma ΤTau ΥUpsilon ΦPhi ΧChi ΨPsi ΩOmega αalpha βbeta γgamma δdelta εepsilon ζzeta ηeta θtheta ιiota κkappa ' +
  'λlambda μmu νnu ξxi οomicron πpi ρrho ςsigmaf σsigma τtau υupsilon φphi χchi ψpsi ωomega ϑthetasym ϒupsih ϖpiv'

/** The characters by the names that HTML 4 has for them: those in use. HTML 5 has two thousand. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ...LATIN_1.split(' ').map((name, index) => [name, String.fromCharCode(0xa0 + index)] as const),
  ...OTHERS.split(' ').map((entry) => [entry.slice(1), entry[0]!] as const),
])

const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]{1,31}));/iy

/** The character that a reference of HTML stands for, and how long that is; `undefined` for an unknown one. */
export function entityAt(text: string, at: number): { value: string; end: number } | undefined {
  ENTITY.lastIndex = at
  const match = ENTITY.exec(text)
  if (!match) return undefined
  const [whole, decimal, hex, name] = match
  const value = name === undefined ? characterOf(Number.parseInt(decimal ?? hex!, decimal ? 10 : 16)) : NAMED.get(name)
  return value === undefined ? undefined : { value, end: at + whole.length }
}

function characterOf(code: number): string {
  const isCharacter = code > 0 && code <= 0x10_ffff && (code < 0xd800 || code > 0xdfff)
  return isCharacter ? String.fromCodePoint(code) : '\ufffd'
}

/** A text with its escapes and character references resolved. */
export function decodeText(text: string): string {
  let decoded = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const entity = text[at] === '&' ? entityAt(text, at) : undefined
    if (entity) {
      decoded += text.slice(from, at) + entity.value
      from = entity.end
      at = from - 1
    } else if (text[at] === '\\' && isEscapable(text[at + 1])) {
      decoded += text.slice(from, at)
      from = ++at
    }
  }
  return decoded + text.slice(from)
}
