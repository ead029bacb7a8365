/** Red, green and blue, each from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number]

type Scheme = 'light' | 'dark'

const WHITE: Rgb = [255, 255, 255]
const BLACK: Rgb = [0, 0, 0]

/** What texts in the accent may stand on: the surface, and the one of the style sheet (`--chat-hover`) that differs most from it. */
const SURFACES: Record<Scheme, readonly [surface: Rgb, hover: Rgb]> = {
  light: [WHITE, [235, 235, 242]],
  dark: [
    [23, 23, 31],
    [39, 39, 51],
  ],
}

/** WCAG 2.2, 1.4.3. */
const MIN_TEXT_CONTRAST = 4.5

/**
 * The tokens that follow from the one color of a brand. Buttons have the color itself, with white or black on it, which of them is
 * better; texts and lines have it as much darker, or lighter, as their contrast needs.
 */
export function accentTokens(accent: Rgb, scheme: Scheme): Record<string, Rgb> {
  const [surface, hover] = SURFACES[scheme]
  const on_accent = contrast(WHITE, accent) >= contrast(BLACK, accent) ? WHITE : BLACK
  const soft = mix(accent, surface, 0.88)
  const far = scheme === 'light' ? BLACK : WHITE
  const isReadable = (text: Rgb) => [surface, hover, soft].every((each) => contrast(text, each) >= MIN_TEXT_CONTRAST)
  let text = accent
  for (let share = 0; share < 1 && !isReadable(text); share += 0.02) text = mix(accent, far, share)
  return {
    '--chat-accent': accent,
    '--chat-accent-hover': mix(accent, on_accent === WHITE ? BLACK : WHITE, 0.12),
    '--chat-accent-soft': soft,
    '--chat-accent-text': isReadable(text) ? text : far,
    '--chat-on-accent': on_accent,
  }
}

/** The contrast of two colors by WCAG, from 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: Rgb): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function mix(one: Rgb, other: Rgb, share: number): Rgb {
  return one.map((part, n) => Math.round(part + (other[n]! - part) * share)) as unknown as Rgb
}

/** Sets the tokens of a brand. Without colors, or with one that the browser does not know, those of the style sheet stay. */
export function applyBrand({ accent, accent_dark = accent }: { accent?: string; accent_dark?: string }): void {
  const [light, dark] = [accent ?? accent_dark, accent_dark].map(readColor)
  if (!light || !dark) return
  const darkTokens = accentTokens(dark, 'dark')
  for (const [name, color] of Object.entries(accentTokens(light, 'light'))) {
    const value = `light-dark(rgb(${color.join()}), rgb(${darkTokens[name]!.join()}))`
    document.documentElement.style.setProperty(name, value)
  }
}

/** The parts of a color of CSS, in any of its notations; without its transparency. */
function readColor(color: string | undefined): Rgb | undefined {
  if (color === undefined) return undefined
  const { body } = document
  body.style.color = `color-mix(in srgb, ${color}, ${color})`
  const parts = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)/.exec(getComputedStyle(body).color)?.slice(1)
  body.style.color = ''
  return parts?.map((part) => Math.round(Math.min(1, Math.max(0, Number(part) || 0)) * 255)) as Rgb | undefined
}
