import type { NamesOf } from '../core/known-names.ts'

/** What makes the page that of a host. */
export interface WebBrand {
  /** In the title and above the conversations. Default: Chat. */
  name?: string
  /** An image: a path of the same host, or a `data:` URL. */
  logo?: string
  colors?: WebColors
  /** The page of the host that signs in: the web chat then has no sign-in, passwords and keys of its own. */
  sign_in_url?: string
}

/** Colors as CSS has them: `#0b57d0`, `rebeccapurple`, `oklch(60% 0.15 250)`. */
export interface WebColors {
  /** The color of buttons, links and the selection. */
  accent?: string
  /** The accent on a dark background. */
  accent_dark?: string
}

const COLORS: NamesOf<WebColors> = { accent: 0, accent_dark: 0 }

/** The parts of a brand that exist. */
export const BRAND: NamesOf<WebBrand> = { name: 0, logo: 0, colors: COLORS, sign_in_url: 0 }

const COLOR = /^(#[0-9a-f]{3,8}|[a-z]{3,30}|(rgb|hsl|oklch|oklab|lch|lab|color)\([\w\s.,%/-]{1,60}\))$/i

/** @throws TypeError with the name of the option */
export function assertBrand(brand: WebBrand): WebBrand {
  const { name, logo, colors = {}, sign_in_url } = brand
  demand(name === undefined || (name.trim() !== '' && name.length <= 60), 'brand.name must have 1 to 60 characters')
  demand(logo === undefined || isLogo(logo), 'brand.logo must be a path of the same host, or a data: URL of an image')
  for (const [key, value] of Object.entries(colors))
    demand(COLOR.test(value), `brand.colors.${key} must be a color of CSS`)
  const isAddress = sign_in_url === undefined || /^(\/(?![/\\])|https?:\/\/)\S*$/i.test(sign_in_url)
  demand(isAddress, 'brand.sign_in_url must be a path, or an http:// or https:// address')
  return brand
}

function isLogo(logo: string): boolean {
  return /^(\/(?![/\\])\S*|data:image\/[\w.+-]+[;,]\S*)$/i.test(logo)
}

function demand(holds: boolean, message: string): void {
  if (!holds) throw new TypeError(message)
}
