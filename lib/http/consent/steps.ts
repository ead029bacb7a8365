import type { H3Event } from 'h3'
import { hasSignIn } from '../../accounts/authentication/rules.ts'
import { allow } from '../../accounts/consent/allowing.ts'
import {
  type AuthorizationRequest,
  allowedScopes,
  type Refusal,
  readAuthorization,
  redirectWith,
  refusalOf,
} from '../../accounts/consent/rules.ts'
import { checkConsent, signConsent } from '../../accounts/consent/ticket.ts'
import { OAuthError } from '../../accounts/oauth-clients/failures.ts'
import { findStoredClient, resolveClient } from '../../accounts/oauth-clients/resolve.ts'
import { hostOf, isDocumentUrl, isRedirectOf, type OAuthClient } from '../../accounts/oauth-clients/rules.ts'
import { isConfirmed } from '../../accounts/sessions/service-confirmation.ts'
import { mcpUrlOf, publicUrlOf } from '../../config/base-path.ts'
import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import type { Service } from '../handle.ts'
import { isForeign } from '../request/csrf.ts'
import type { HeaderPair } from '../response/headers.ts'
import type { Reply } from '../response/serialize.ts'
import { askedBoxes, type Consent, consentHeaders, consentPage, noticePage } from './page.ts'
import { withRetry } from './retry.ts'
import { askToSignIn, beginAtProvider, signIn } from './sign-in.ts'
import { CONSENT_PATH, findVisitor, type Visitor } from './visitor.ts'

/** A visit of the page: a request with the parameters that its browser brings. */
export interface Visit {
  service: Service
  ctx: Context
  event: H3Event
  /** The address of the client. */
  ip: string | undefined
  /** All fields: those of the form, or of the query. */
  fields: ReadonlyMap<string, string>
  request: AuthorizationRequest
}

/** Shows the page. */
export async function show(visit: Visit): Promise<Reply> {
  const { ctx, event, ip, fields } = visit
  const provider = fields.get('provider')
  if (provider !== undefined) return beginAtProvider(visit, provider)
  const visitor = await findVisitor(ctx, event, ip)
  if (!visitor) return withoutVisitor(visit)
  return withCookies(visitor, await askOrRefuse(visit, visitor))
}

/** Takes the form of the page: a sign-in, or what the user has decided. */
export async function decide(visit: Visit): Promise<Reply> {
  const { ctx, event, ip, fields, request } = visit
  if (isForeign({ headers: event.req.headers, url: event.url }, ctx.config)) throw forged()
  if (fields.has('email')) return signIn(visit)
  const visitor = await findVisitor(ctx, event, ip)
  if (!visitor) return withoutVisitor(visit)
  const { actor } = visitor
  const proof = await checkConsent(ctx, fields.get('ticket') ?? '', { actor, request })
  if (proof === 'forged') throw forged()
  if (proof === 'expired')
    return withCookies(visitor, await askOrRefuse(visit, visitor, 'This page was open for too long. Decide again.'))
  return withCookies(visitor, await answer(visit, visitor))
}

const forged = () =>
  new ChatError('forbidden', {
    message: 'This form is not the one that was shown to you. Nothing was allowed. Start again in the application.',
  })

/** Does what a user has decided by a form that is right. */
async function answer(visit: Visit, visitor: Visitor): Promise<Reply> {
  const { ctx, fields, request } = visit
  const client = await clientOf(visit, visitor)
  const refusal = refusalIn(ctx, request)
  if (refusal) return redirect(ctx, request, refusal)
  if (fields.get('decision') === 'deny')
    return redirect(ctx, request, { error: 'access_denied', error_description: 'the user has not allowed it' })
  const boxes = { write: fields.get('write') === 'yes', ask: fields.get('ask') === 'yes' }
  const again = (status: number, problem: string) => ask(visit, visitor, client, { status, problem, boxes })
  if (fields.get('decision') !== 'allow') return again(400, 'Choose to allow it, or to deny it.')
  if (fields.get('started') !== 'yes')
    return again(400, `Tick the box if you started this at ${hostOf(client, request.redirect_uri)}.`)
  try {
    const password = fields.get('password')
    if (password !== undefined && !(await isConfirmed(ctx, ctx.db, visitor.actor)))
      await visit.service.chat.auth.confirm(visitor.actor, { password })
    const code = await allow(ctx, visitor.actor, { client, request, scopes: allowedScopes(boxes) })
    return redirect(ctx, request, { code })
  } catch (error) {
    if (!(error instanceof ChatError)) throw error
    const { code, status, message } = error
    // What was typed is wrong, or is to be typed at all.
    if (code === 'confirmation_required' || code === 'invalid_credentials') return again(403, message)
    if (code === 'validation_failed' || code === 'rate_limited') return withRetry(await again(status, message), error)
    throw error
  }
}

/** Asks a user, unless the request is refused. */
async function askOrRefuse(visit: Visit, visitor: Visitor, problem?: string): Promise<Reply> {
  const { ctx, request } = visit
  const client = await clientOf(visit, visitor)
  const refusal = refusalIn(ctx, request)
  if (refusal) return redirect(ctx, request, refusal)
  return ask(visit, visitor, client, { status: problem === undefined ? 200 : 400, problem, boxes: askedBoxes(request) })
}

/** Asks a user what the client may do; one whose sign-in is long ago signs in again, or gives the password as well. */
async function ask(
  visit: Visit,
  { actor, user }: Visitor,
  client: OAuthClient,
  { status, ...shown }: Pick<Consent, 'boxes' | 'problem'> & { status: number },
): Promise<Reply> {
  const { ctx, request } = visit
  const asks_password = !(await isConfirmed(ctx, ctx.db, actor))
  if (asks_password && user.password_hash === null)
    return askToSignIn(visit, {
      status,
      problem: 'Your sign-in is some time ago. Sign in again to connect an application.',
    })
  const ticket = await signConsent(ctx, { actor, request })
  const name = user.display_name ? `${user.display_name} (${user.username})` : user.username
  return page(
    status,
    consentPage({ client, request, ticket, user: name, asks_password, ...shown }),
    request.redirect_uri,
  )
}

/** The client of a request, which may go back where it wants to. @throws ChatError `bad_request`, with the reason */
async function clientOf({ ctx, request }: Visit, { actor }: Visitor): Promise<OAuthClient> {
  const client = await resolveClient(ctx, request.client_id, actor.user_id).catch((error: unknown) => {
    throw error instanceof OAuthError ? new ChatError('bad_request', { message: error.message }) : error
  })
  assertRedirect(client, request)
  return client
}

function assertRedirect(client: OAuthClient, { redirect_uri }: AuthorizationRequest): void {
  if (!isRedirectOf(client, redirect_uri))
    throw new ChatError('bad_request', {
      message: 'The application wants to go back to an address that it has not published (redirect_uri).',
    })
}

/** Sends a visitor to sign in, unless nothing could come of it. Of a client that is not stored, nothing is asked before. */
async function withoutVisitor(visit: Visit): Promise<Reply> {
  const { ctx, request } = visit
  if (!isDocumentUrl(request.client_id)) {
    const client = await findStoredClient(ctx, request.client_id)
    if (!client) throw new ChatError('bad_request', { message: 'This application is not known here.' })
    assertRedirect(client, request)
  }
  if (ctx.host.identity || !hasSignIn(ctx)) return atHost(visit)
  return askToSignIn(visit)
}

/** Sends a visitor to the page on which users of the host sign in. */
function atHost({ ctx, request }: Visit): Reply {
  const { sign_in_url } = ctx.config.mcp.oauth
  if (!ctx.host.identity || sign_in_url === undefined)
    return page(401, noticePage('You are not signed in. Sign in first, and start again in the application.'))
  const address = `${publicUrlOf(ctx.config)}${CONSENT_PATH}?${new URLSearchParams({ ...request })}`
  const location = sign_in_url.replace('{url}', () => encodeURIComponent(address))
  return { status: 303, headers: [['location', location], NOT_KEPT], body: null }
}

function refusalIn({ config }: Context, request: AuthorizationRequest): Refusal | undefined {
  return refusalOf(request, { resource: mcpUrlOf(config) })
}

const NOT_KEPT: HeaderPair = ['cache-control', 'no-store']

function redirect({ config }: Context, request: AuthorizationRequest, result: { code: string } | Refusal): Reply {
  const location = redirectWith(request, result, publicUrlOf(config) ?? '')
  return { status: 303, headers: [['location', location], NOT_KEPT], body: null }
}

/** A page; with the redirect of a client, its form may lead there. */
export function page(status: number, body: string, redirectUri?: string): Reply {
  return { status, headers: consentHeaders(redirectUri), body }
}

/** The request of a visit, or why there is none. */
export function toRequest(fields: ReadonlyMap<string, string>): AuthorizationRequest {
  const request = readAuthorization(fields)
  if ('problem' in request) throw new ChatError('bad_request', { message: request.problem })
  return request
}

function withCookies({ set_cookie }: Visitor, reply: Reply): Reply {
  return { ...reply, cookies: [...set_cookie, ...(reply.cookies ?? [])] }
}
