import { hash } from 'node:crypto'
import { type AuthorizationRequest, PARAMETERS } from '../../accounts/consent/rules.ts'
import { toScopes } from '../../accounts/grants/rules.ts'
import { hostOf, isLoopbackRedirect, type OAuthClient } from '../../accounts/oauth-clients/rules.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { escapeHtml } from '../forms/page.ts'
import type { HeaderPair } from '../response/headers.ts'

const STYLE =
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:3rem auto;padding:0 1rem}label,button,a.button{display:block;margin:.5rem 0}input:not([type=checkbox]),button,a.button{font:inherit;width:100%;box-sizing:border-box;padding:.4rem;text-align:center}input:not([type=checkbox]){text-align:start;margin:.25rem 0 1rem}fieldset{border:1px solid #888;margin:1rem 0}dt{font-size:.875rem}dd{margin:0 0 .75rem;overflow-wrap:anywhere;font-weight:600}a.button{border:1px solid #888;color:inherit;text-decoration:none}[role=alert]{color:#a00}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}[role=alert]{color:#f99}}'

/**
 * The page has no script, loads nothing, and is stored and framed nowhere. A browser that follows the redirect to the client
 * takes it for where the form is sent to, so its origin is allowed.
 */
export function consentHeaders(redirectUri?: string): HeaderPair[] {
  const targets = ["'self'", ...(redirectUri === undefined ? [] : [formTarget(redirectUri)])].join(' ')
  return [
    ['content-type', 'text/html; charset=utf-8'],
    ['cache-control', 'no-store'],
    // With `no-referrer` its form would have the origin `null`, as that of any foreign page can have.
    ['referrer-policy', 'same-origin'],
    [
      'content-security-policy',
      `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; form-action ${targets}; base-uri 'none'; frame-ancestors 'none'`,
    ],
  ]
}

/** A policy knows no addresses of IPv6 (CSP 3, section 2.3.1): for one, its scheme. */
function formTarget(redirectUri: string): string {
  const { origin, hostname, protocol } = new URL(redirectUri)
  return hostname.startsWith('[') ? protocol : origin
}

/** What the page asks a user. */
export interface Consent {
  client: OAuthClient
  request: AuthorizationRequest
  /** What proves where the form comes from. */
  ticket: string
  /** How the user is named. */
  user: string
  /** Whether the password is asked for, too. */
  asks_password: boolean
  /** Which boxes are ticked. */
  boxes: { write: boolean; ask: boolean }
  problem?: string | undefined
}

/** Asks a user what a client may do. */
export function consentPage({ client, request, ticket, user, asks_password, boxes, problem }: Consent): string {
  const name = escapeHtml(client.name)
  const host = shownHost(client, request)
  const box = (field: 'write' | 'ask', text: string) =>
    `<label><input type="checkbox" name="${field}" value="yes"${boxes[field] ? ' checked' : ''}> ${text}</label>`
  return pageOf(
    'Connect an application',
    `${alertOf(problem)}<dl><dt>Application</dt><dd>${name} (${host})</dd><dt>It goes back to</dt><dd>${placeOf(request.redirect_uri)}</dd><dt>Your account</dt><dd>${escapeHtml(user)}</dd></dl>` +
      `<form method="post" action="authorize">${hidden(request)}<input type="hidden" name="ticket" value="${escapeHtml(ticket)}">` +
      `<fieldset><legend>What it may do as you</legend><p>Read your conversations</p>${box('write', 'Post messages, and mark messages as read')}${box('ask', 'Ask assistants, and stop their answers')}</fieldset>` +
      (asks_password ? PASSWORD : '') +
      `<label><input type="checkbox" name="started" value="yes" required> I started this at ${host}</label>` +
      '<button name="decision" value="allow">Allow</button><button name="decision" value="deny" formnovalidate>Deny</button></form>',
  )
}

const PASSWORD = `<label>Your password<input type="password" name="password" autocomplete="current-password" maxlength="${MAX_LENGTH.password}" required></label>`

/** The host of a client, as people know it. */
function shownHost(client: OAuthClient, { redirect_uri }: Pick<AuthorizationRequest, 'redirect_uri'>): string {
  return client.host === undefined ? placeOf(redirect_uri) : escapeHtml(hostOf(client, redirect_uri))
}

/** Where the browser goes afterwards, as people know it. */
function placeOf(redirectUri: string): string {
  return isLoopbackRedirect(redirectUri) ? 'a program on this computer' : escapeHtml(new URL(redirectUri).host)
}

/** The boxes as the client wants them. */
export function askedBoxes(request: AuthorizationRequest): Consent['boxes'] {
  const scopes = toScopes(request.scope ?? '')
  return { write: scopes.includes('chat:write'), ask: scopes.includes('chat:ask') }
}

/** How a user can sign in on the page. */
export interface SignInWays {
  /** Whether the service knows passwords. */
  passwords: boolean
  /** Sign-in providers, with where the page begins with each. */
  providers: readonly { title: string; href: string }[]
}

/** Asks a user to sign in first. */
export function signInPage(
  request: AuthorizationRequest,
  { passwords, providers }: SignInWays,
  { problem, email = '' }: { problem?: string | undefined; email?: string } = {},
): string {
  const links = providers.map(
    ({ title, href }) => `<a class="button" href="${escapeHtml(href)}">Sign in with ${escapeHtml(title)}</a>`,
  )
  const form = `<form method="post" action="authorize">${hidden(request)}<label>E-mail address<input type="text" inputmode="email" name="email" autocomplete="username" maxlength="${MAX_LENGTH.email}" value="${escapeHtml(email)}" required></label>${PASSWORD}<button>Sign in</button></form>`
  return pageOf(
    'Sign in',
    `${alertOf(problem)}<p>An application wants to connect to your account. Sign in to see which one.</p>${passwords ? form : ''}${links.join('')}`,
  )
}

/** A page with one sentence. */
export function noticePage(text: string): string {
  return pageOf('Connect an application', alertOf(text))
}

function hidden(request: AuthorizationRequest): string {
  return PARAMETERS.flatMap((name) => {
    const value = request[name]
    return value === undefined ? [] : [`<input type="hidden" name="${name}" value="${escapeHtml(value)}">`]
  }).join('')
}

const alertOf = (text: string | undefined) => (text === undefined ? '' : `<p role="alert">${escapeHtml(text)}</p>`)

function pageOf(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>${body}</main></body></html>`
}
