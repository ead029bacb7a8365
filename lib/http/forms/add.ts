import type { IncomingMessage } from 'node:http'
import type { H3Event } from 'h3'
import { hasSignIn } from '../../accounts/authentication/rules.ts'
import { FORM_PATHS } from '../../config/links.ts'
import type { Config } from '../../config/parse.ts'
import { contextOf } from '../../core/context-of.ts'
import { ChatError } from '../../core/errors.ts'
import type { Service } from '../handle.ts'
import { bodyTimeout, readForm } from '../request/body.ts'
import { respondAt } from '../response/own-path.ts'
import { type Reply, serialize, toChatError } from '../response/serialize.ts'
import { callRoute } from './calls.ts'
import { FORMS, type Form } from './forms.ts'
import { donePage, formPage, PAGE_HEADERS } from './page.ts'

/** The longest form: a token, a password, a few names. */
const MAX_BYTES = 16 * 1024

/** Failures after which the token is still good, and the form can be corrected. */
const MAY_TRY_AGAIN = ['validation_failed', 'username_taken', 'invite_email_mismatch']

/** Adds what responds at a path. */
type AddRoute = (path: string, respond: (event: H3Event) => unknown) => void

/** Adds a form for each mailed link without a page of its own. The forms call the routes of the API. */
export function addForms(at: AddRoute, service: Service, config: Config): void {
  if (!config.features.auth_v1 || !hasSignIn(contextOf(service.chat))) return
  for (const form of FORMS) {
    if (config.links[form.link] !== undefined) continue
    at(FORM_PATHS[form.link], (event) => answer(service, form, event))
  }
}

function answer(service: Service, form: Form, event: H3Event): Promise<unknown> {
  return respondAt(service, event, {
    path: FORM_PATHS[form.link],
    reply: () => replyTo(service, form, event),
    toFailure(error) {
      const { status, message } = toChatError(error)
      return page(status, donePage(form, message))
    },
  })
}

async function replyTo(service: Service, form: Form, event: H3Event): Promise<Reply> {
  const { method, headers } = event.req
  // Mail scanners open links: only the button changes anything.
  if (method === 'GET' || method === 'HEAD') return page(200, formPage(form, tokenIn(event.url.searchParams)))
  if (method !== 'POST') {
    const refusal = page(405, donePage(form, 'This page has no such method.'))
    return { ...refusal, headers: [...refusal.headers, ['allow', 'GET, HEAD, POST']] }
  }
  const source = (event.runtime?.node?.req as IncomingMessage | undefined) ?? event.req.body
  const fields = await readForm(source, headers, {
    bytes: MAX_BYTES,
    seconds: bodyTimeout(contextOf(service.chat).config),
  })
  const token = (fields.get('token') ?? '').trim()
  const input = { token, ...Object.fromEntries(form.fields.map(({ name }) => [name, fields.get(name) ?? ''])) }
  try {
    const { route } = form
    // The form of an invite makes an account, also in a browser that is signed in.
    const with_cookies = route.access === 'public'
    const { cookies = [] } = serialize(
      service.chat,
      route,
      await callRoute(service, route, event, { input, with_cookies }),
    )
    return { ...page(200, donePage(form, form.done)), cookies }
  } catch (error) {
    if (!(error instanceof ChatError) || !MAY_TRY_AGAIN.includes(error.code)) throw error
    // What was typed is wrong: the form again, and the token is still good.
    const labels = new Map(form.fields.map(({ name, label }) => [name, `${label}: `]))
    const why = error.errors?.map(({ path, message }) => `${labels.get(path) ?? ''}${message}`).join('. ')
    return page(error.status, formPage(form, token, { problem: why || error.message, typed: input }))
  }
}

function tokenIn(query: URLSearchParams): string {
  return /^[\w-]{1,200}$/.exec(query.get('token') ?? '')?.[0] ?? ''
}

function page(status: number, body: string): Reply {
  return { status, headers: PAGE_HEADERS, body }
}
