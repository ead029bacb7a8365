import { parseUrl } from '../core/url.ts'
import type { WebBrand } from './brand.ts'

/** Where the page is, where the service is, and how the page looks: the page gets it as JSON. */
export interface Place {
  /** Without a slash at its end. */
  base: string
  api: string
  brand: WebBrand
}

const DEFAULT_NAME = 'Chat'

/** @throws TypeError */
export function parseBase(base: string): string {
  const path = base.replace(/\/+$/, '')
  if (!/^(?:\/(?!\.{1,2}(?:\/|$))[\w.~!$&'()*+,;=:@%-]+)*$/.test(path))
    throw new TypeError('base must be a path such as /chat, or be left out')
  return path
}

/** The URL of the service, without a slash at its end. @throws TypeError */
export function parseApi(api: string): string {
  const isAddress = /^https?:\/\//i.test(api) && parseUrl(api) !== undefined && !/[?#\s]/.test(api)
  if (!isAddress && !/^(?:\/(?![/\\])[^?#\s\\]*)?$/.test(api))
    throw new TypeError('api must be a path such as /chat, or an http:// or https:// address, without ? and #')
  return api.replace(/\/+$/, '')
}

/** The HTML of the page. Its template names its own files; what it must know is JSON, which no browser runs. */
export function fillHtml(template: string, { base, api, brand }: Place): string {
  const { name = DEFAULT_NAME } = brand
  const config = JSON.stringify({ api, brand: { ...brand, name } }).replaceAll('<', '\\u003c')
  const values: Record<string, string> = { base: escapeHtml(base), name: escapeHtml(name) }
  // Last, since the texts of a brand may look like a place for another one.
  return template
    .replace(/\{\{(base|name)\}\}/g, (_, key: string) => values[key]!)
    .replace('"{{config}}"', () => config)
}

/** What a browser needs to install the page. */
export function webManifest({ base, brand: { name = DEFAULT_NAME } }: Place): string {
  return JSON.stringify({
    name,
    short_name: Array.from(name).slice(0, 12).join('').trim(),
    id: `${base}/`,
    start_url: `${base}/`,
    scope: `${base}/`,
    display: 'standalone',
    background_color: '#ffffff',
    theme_color: '#ffffff',
    icons: [
      { src: `${base}/icon.svg`, sizes: 'any', type: 'image/svg+xml', purpose: 'any' },
      { src: `${base}/icon-192.png`, sizes: '192x192', type: 'image/png', purpose: 'any' },
      { src: `${base}/icon-512.png`, sizes: '512x512', type: 'image/png', purpose: 'any' },
      { src: `${base}/icon-maskable.png`, sizes: '512x512', type: 'image/png', purpose: 'maskable' },
    ],
  })
}

/**
 * The page runs and loads its own files only, with one policy of Trusted Types for the address of its
 * service worker; it calls the service only, and cannot be framed.
 *
 * @param photos the origins of photos, besides the service
 */
export function contentPolicy(api: string, photos: readonly string[] = []): string {
  const url = parseUrl(api)
  const origin = url ? ` ${url.origin}` : ''
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self'${origin}`,
    `img-src 'self' data: blob:${[origin, ...photos.map((each) => ` ${each}`)].join('')}`,
    "media-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types chat-worker chat-paste',
  ].join('; ')
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}
