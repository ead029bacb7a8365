import * as v from 'valibot'
import type { Config } from '../api/config.ts'
import { MAX_LENGTH } from '../core/lengths.ts'
import { parseUrl } from '../core/url.ts'
import { publicUrlOf } from './base-path.ts'
import { key, section, text } from './key.ts'

const FORM =
  'must be an http:// or https:// address with {token} in it once, such as https://app.example.org/reset#token={token}'

const link = v.pipe(text, v.check(isLink, FORM))

/** The pages that mailed links open. */
export const LinksSection = section({
  reset_password: key(
    link,
    undefined,
    'Page of your own that sets a new password, with {token} in its address; by default the web chat has one, or the service a plain form.',
  ),
  verify_email: key(
    link,
    undefined,
    'Page of your own that verifies an email address, with {token} in its address; by default the web chat has one, or the service a plain form.',
  ),
  change_email: key(
    link,
    undefined,
    'Page of your own that confirms a changed email address, with {token} in its address; by default the web chat has one, or the service a plain form.',
  ),
  undo_email: key(
    link,
    undefined,
    'Page of your own that undoes such a change, with {token} in its address; by default the web chat has one, or the service a plain form.',
  ),
  conversation_invite: key(
    link,
    undefined,
    'Page of your own that accepts a mailed invite to a conversation, with {token} in its address; by default the web chat has one, or the service a plain form.',
  ),
  invite: key(
    link,
    undefined,
    'Page of your own on which an invited newcomer signs up, with {token} in its address; by default the web chat has one, or the service a plain form.',
  ),
})

/** The mails with a link. */
export type LinkName = keyof Config['links']

/** The paths of the forms that the service has where no page is configured. */
export const FORM_PATHS: Record<LinkName, string> = {
  reset_password: '/account/reset-password',
  verify_email: '/account/verify-email',
  change_email: '/account/confirm-email',
  undo_email: '/account/undo-email',
  conversation_invite: '/account/join',
  invite: '/account/sign-up',
}

/** The screens of the web chat for the same links, behind its `#`; the token follows. */
const SCREENS: Record<LinkName, string> = {
  reset_password: 'reset',
  verify_email: 'verify',
  change_email: 'change-email',
  undo_email: 'undo',
  conversation_invite: 'join',
  invite: 'welcome',
}

/** The link with a token, behind a # so that no log of a server or proxy has it; `undefined` if the service knows neither a page nor its own address. While the web chat is served, it leads there. */
export function toLink(config: Config, name: LinkName, token: string): string | undefined {
  const page = config.links[name]
  if (page !== undefined) return page.replace('{token}', token)
  const address = publicUrlOf(config)
  if (address === undefined) return undefined
  return config.server.web ? `${address}/#/${SCREENS[name]}/${token}` : `${address}${FORM_PATHS[name]}#token=${token}`
}

function isLink(address: string): boolean {
  if (address.length > MAX_LENGTH.url || /[\s\p{Cc}]/u.test(address) || address.split('{token}').length !== 2)
    return false
  const filled = address.replace('{token}', 'token')
  const url = /[{}]/.test(filled) ? undefined : parseUrl(filled)
  if (!url) return false
  const { protocol, username, password, host } = url
  // In the host, the token would be sent to another server.
  return /^https?:$/.test(protocol) && !username && !password && host === new URL(address.replace('{token}', 'x')).host
}
