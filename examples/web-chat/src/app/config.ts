import type { WebBrand } from 'chat-server/web'
import { applyBrand } from './palette.ts'

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
  applyBrand(config.brand.colors ?? {})
  const { origin } = location
  return { ...config, api: new URL(config.api || '/', origin).href.replace(/\/$/, '') }
}
