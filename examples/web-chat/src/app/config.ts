import type { WebBrand } from 'chat-server/web'

/** The brand, which always has a name. */
export type Brand = WebBrand & { name: string }

/** What the server has written into the page. */
export interface Config {
  /** The URL of the service: a path of this host, or an address. */
  api: string
  brand: Brand
}

/** Reads it, and applies the colors: a style in the HTML would be against the policy of the page. */
export function readConfig(): Config {
  const config = JSON.parse(document.getElementById('config')!.textContent!) as Config
  const { accent, accent_dark = accent } = config.brand.colors ?? {}
  const { style } = document.documentElement
  if (accent !== undefined) style.setProperty('--brand-light', accent)
  if (accent_dark !== undefined) style.setProperty('--brand-dark', accent_dark)
  const { origin } = location
  return { ...config, api: new URL(config.api || '/', origin).href.replace(/\/$/, '') }
}
