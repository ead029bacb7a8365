import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { digest } from '../../core/ids.ts'
import { readSigned, signText } from '../../core/signed-text.ts'
import { MINUTE } from '../../core/units.ts'
import { type AuthorizationRequest, CONSENTS } from './rules.ts'

/** How long the form of the page can be sent. */
const TICKET_AGE = 10 * MINUTE

/** What a form is for: nothing of it can be changed, and no other user or session can send it. */
export interface ConsentSubject {
  actor: Pick<Actor, 'user_id' | 'session_id'>
  request: AuthorizationRequest
}

/** What proves that the service itself has shown the form to this user, for this request. */
export async function signConsent(ctx: Pick<Context, 'keyring' | 'now'>, subject: ConsentSubject): Promise<string> {
  return signText(await ctx.keyring.signing(CONSENTS), `${ctx.now() + TICKET_AGE} ${digestOf(subject)}`)
}

/** Whether a form was made for this user and request, and how long ago. */
export async function checkConsent(
  ctx: Pick<Context, 'keyring' | 'now'>,
  ticket: string,
  subject: ConsentSubject,
): Promise<'valid' | 'expired' | 'forged'> {
  const [expiry, about] = readSigned(await ctx.keyring.signing(CONSENTS), ticket)?.split(' ') ?? []
  if (about !== digestOf(subject)) return 'forged'
  return Number(expiry) > ctx.now() ? 'valid' : 'expired'
}

function digestOf({ actor, request }: ConsentSubject): string {
  const { client_id, redirect_uri, response_type, scope, state, code_challenge, code_challenge_method, resource } =
    request
  return digest(
    JSON.stringify([
      ...[actor.user_id, actor.session_id ?? null, client_id, redirect_uri, response_type, scope ?? null],
      ...[state ?? null, code_challenge, code_challenge_method, resource ?? null],
    ]),
  )
}
