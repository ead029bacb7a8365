import { hash } from 'node:crypto'
import { MAX_LENGTH } from '../../core/lengths.ts'
import type { HeaderPair } from '../response/headers.ts'
import type { Form, FormField } from './forms.ts'

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:3rem auto;padding:0 1rem}label,input,button{display:block;font:inherit;width:100%;box-sizing:border-box;margin:.25rem 0 1rem;padding:.25rem}[role=alert]{color:#a00}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}[role=alert]{color:#f99}}'

/** Takes the token from behind the #, which browsers send to no server, into the form and out of the address. */
const SCRIPT =
  "const m=/^#token=([\\w-]{1,200})$/.exec(location.hash),f=document.getElementById('token');if(m&&f){f.value=m[1];f.type='hidden';f.previousSibling.remove();history.replaceState(null,'',location.pathname)}"

/** The page runs only its own script, loads nothing, sends its form to the service only, and is stored and framed nowhere. */
export const PAGE_HEADERS: HeaderPair[] = [
  ['content-type', 'text/html; charset=utf-8'],
  ['cache-control', 'no-store'],
  // With `no-referrer` its form would have the origin `null`, as that of any foreign page can have.
  ['referrer-policy', 'same-origin'],
  [
    'content-security-policy',
    `default-src 'none'; script-src 'sha256-${hash('sha256', SCRIPT, 'base64')}'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  ],
]

/** Why a form was refused, and what was typed, by field. */
interface Refused {
  problem: string
  typed: Readonly<Record<string, string>>
}

/** The page with a form; without a token, in the query or behind the #, it asks for the code of the mail. */
export function formPage(form: Form, token: string, refused?: Refused): string {
  const alert = refused === undefined ? '' : `<p role="alert">${escapeHtml(refused.problem)}</p>`
  const code: FormField = { name: 'token', label: 'Code from the mail', type: 'text', autocomplete: 'one-time-code' }
  const hidden = token && `<input type="hidden" name="token" value="${escapeHtml(token)}">`
  const fields = [...(token ? [] : [code]), ...form.fields].map((field) => fieldOf(field, refused?.typed)).join('')
  // Without `action`, the form is sent to the address of the page, under any path of a proxy.
  return pageOf(
    form,
    `${alert}<p>${escapeHtml(form.text)}</p><form method="post">${hidden}${fields}<button>${escapeHtml(form.button)}</button></form><script>${SCRIPT}</script>`,
  )
}

/** The page after the form, with one sentence. */
export function donePage(form: Form, text: string): string {
  return pageOf(form, `<p role="status">${escapeHtml(text)}</p>`)
}

/** @param typed the values that the form shows again, without passwords */
function fieldOf({ name, label, type, autocomplete }: FormField, typed: Refused['typed'] = {}): string {
  const value = type === 'password' ? '' : escapeHtml(typed[name] ?? '')
  const longest = type === 'password' ? MAX_LENGTH.password : MAX_LENGTH.token
  return `<label for="${name}">${escapeHtml(label)}</label><input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" maxlength="${longest}" value="${value}" required>`
}

function pageOf({ title }: Form, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body><main><h1>${escapeHtml(title)}</h1>${body}</main></body></html>`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** A text as HTML shows it, in elements and in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}
