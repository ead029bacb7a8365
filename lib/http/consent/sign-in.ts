import { hasSignIn } from '../../accounts/authentication/rules.ts'
import type { OauthBegun } from '../../accounts/oauth/schema.ts'
import { isRedirectUri } from '../../accounts/oauth-clients/rules.ts'
import { basePathOf } from '../../config/base-path.ts'
import { oauthProviders } from '../../config/oauth.ts'
import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { endpoints } from '../../endpoints.ts'
import { callRoute } from '../forms/calls.ts'
import { bindingCookie } from '../request/cookies.ts'
import { type Reply, serialize } from '../response/serialize.ts'
import { consentHeaders, type SignInWays, signInPage } from './page.ts'
import { withRetry } from './retry.ts'
import type { Visit } from './steps.ts'
import { CONSENT_PATH } from './visitor.ts'

/** Failures of a sign-in that the form shows. */
const SHOWN = ['invalid_credentials', 'validation_failed', 'account_disabled', 'rate_limited', 'unavailable'] as const

/** Asks a visitor to sign in. */
export function askToSignIn(
  { ctx, request }: Pick<Visit, 'ctx' | 'request'>,
  { status = 200, ...shown }: { status?: number; problem?: string; email?: string } = {},
): Reply {
  // What is wrong with the request may lead back to the client right after the sign-in.
  const target = isRedirectUri(request.redirect_uri) ? request.redirect_uri : undefined
  return { status, headers: consentHeaders(target), body: signInPage(request, waysIn(ctx, queryOf(request)), shown) }
}

function waysIn(ctx: Context, query: URLSearchParams): SignInWays {
  const passwords = hasSignIn(ctx)
  // A longer address could not be returned to.
  const isShort = pathOf(ctx, query).length <= MAX_LENGTH.url
  const providers = passwords && isShort ? oauthProviders(ctx.config) : []
  return {
    passwords,
    providers: providers.map(({ name, title }) => ({
      title,
      href: `authorize?${new URLSearchParams([...query, ['provider', name]])}`,
    })),
  }
}

const queryOf = (request: Visit['request']) => new URLSearchParams({ ...request })

const pathOf = ({ config }: Context, query: URLSearchParams) => `${basePathOf(config)}${CONSENT_PATH}?${query}`

/** Signs a visitor in with a password, and shows the page from the beginning. */
export async function signIn(visit: Visit): Promise<Reply> {
  const { service, event, fields, request } = visit
  const [email = '', password = ''] = ['email', 'password'].map((name) => fields.get(name))
  const route = endpoints.auth.login
  try {
    const signedIn = await callRoute(service, route, event, { input: { email, password }, with_cookies: true })
    const { cookies = [] } = serialize(service.chat, route, signedIn)
    const location = `authorize?${queryOf(request)}`
    return {
      status: 303,
      headers: [
        ['location', location],
        ['cache-control', 'no-store'],
      ],
      cookies,
      body: null,
    }
  } catch (error) {
    if (!(error instanceof ChatError) || !SHOWN.some((code) => code === error.code)) throw error
    return withRetry(askToSignIn(visit, { status: error.status, problem: error.message, email }), error)
  }
}

/** Sends a visitor to a sign-in provider, which returns to the page. */
export async function beginAtProvider({ service, ctx, event, request }: Visit, provider: string): Promise<Reply> {
  const query = { redirect_to: pathOf(ctx, queryOf(request)) }
  const begun = await callRoute(service, endpoints.oauth.begin, event, {
    params: { provider },
    query,
    with_cookies: true,
  })
  const { auth_url, binding } = begun as OauthBegun & { binding: string }
  const headers: Reply['headers'] = [
    ['location', auth_url],
    ['cache-control', 'no-store'],
  ]
  return { status: 303, headers, cookies: [bindingCookie(ctx.config, binding)], body: null }
}
