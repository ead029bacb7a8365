import type { MailKind } from './schema.ts'

/** The subject and the text of a mail, with placeholders such as `{link}`. */
export interface MailText {
  subject: string
  text: string
}

/** What the owner of an account can do about a change. */
const NOTICE_END =
  'If it was not you, set a new password, look through your sessions, API keys, connected apps and sign-in providers, and tell an administrator.\n'

/** The text of each mail, where the host or the operator has none of its own. */
export const TEXTS: Record<MailKind, MailText> = {
  reset_password: {
    subject: 'Set a new password',
    text: 'A new password was requested for the account with this address. Set it within an hour with this link or code:\n\n{link}\n\nIf it was not you, there is nothing to do.\n',
  },
  verify_email: {
    subject: 'Confirm your e-mail address',
    text: 'The account "{username}" was registered with this address. If it is yours, confirm it within a day with this link or code:\n\n{link}\n\nIf it is not yours, do not confirm it: there is nothing to do.\n',
  },
  invite: {
    subject: 'You are invited to sign up',
    text: 'You are invited to make an account for this address. Choose a name and a password with this link or code:\n\n{link}\n\nThe link works once, and not for ever. If you did not expect it, there is nothing to do.\n',
  },
  conversation_invite: {
    subject: 'You are invited to a conversation',
    text: 'You are invited to a conversation. Make an account for this address, or accept where you are signed in, with this link or code:\n\n{link}\n\nThe link does not work for ever. If you did not expect it, there is nothing to do.\n',
  },
  change_email: {
    subject: 'Confirm your new e-mail address',
    text: 'The account "{username}" is to have this e-mail address. If it is yours, confirm it within a day with this link or code:\n\n{link}\n\nIf it is not yours, do not confirm it: there is nothing to do.\n',
  },
  undo_email: {
    subject: 'The e-mail address of your account was changed',
    text: 'Your account ({username}) has another e-mail address now. If it was not you, get this one back within 72 hours with this link or code; all sessions and API keys end then:\n\n{link}\n\nThen set a new password, and tell an administrator.\n',
  },
  key_created: {
    subject: 'A new API key for your account',
    text: `An API key was made, which acts as you without a password ({username}).\n\n${NOTICE_END}`,
  },
  grant_created: {
    subject: 'An application is connected to your account',
    text: `An application of {host} was connected to your account ({username}), and can use it without a password.\n\n${NOTICE_END}`,
  },
  grant_replayed: {
    subject: 'An application was disconnected from your account',
    text: `An application of {host} used a token that it had replaced before, as a thief would who has copied it. It is disconnected from your account ({username}). If you still use it, connect it again.\n\n${NOTICE_END}`,
  },
  identity_linked: {
    subject: 'A new way to sign in to your account',
    text: `A sign-in provider was linked to your account ({username}).\n\n${NOTICE_END}`,
  },
  email_changed: {
    subject: 'The e-mail address of your account was changed',
    text: `Your account has another e-mail address now ({username}).\n\n${NOTICE_END}`,
  },
  password_changed: {
    subject: 'The password of your account was changed',
    text: `The password of your account was changed ({username}).\n\n${NOTICE_END}`,
  },
  webhook_disabled: {
    subject: 'A webhook of your account was disabled',
    text: 'A webhook of your account ({username}) to {host} was disabled: {event}.\n\nThe log keeps what was not sent for some days. Enable the webhook when its receiver is back: it goes on where it stopped.\n',
  },
  notification: {
    subject: '{actor} {event}',
    text: '{actor} {event}:\n\n{excerpt}\n\n{link}\n',
  },
}

/** The values of the placeholders. */
export interface MailValues {
  username: string
  /** The link of the mail, or the token where the service has no address; empty in a notice. */
  link: string
  /** What happened: in a notification, and to a webhook. */
  event?: string
  /** For a notification: the user that caused it, and the beginning of the message. */
  actor?: string
  excerpt?: string
  /** For a webhook: the host that it calls; for an application: its host. */
  host?: string
}

const PLACEHOLDERS = ['link', 'username']

const MORE_PLACEHOLDERS: Partial<Record<MailKind, string[]>> = {
  notification: ['actor', 'event', 'excerpt'],
  webhook_disabled: ['host', 'event'],
  grant_created: ['host'],
  grant_replayed: ['host'],
}

/** The names of the placeholders that a mail has. */
export const placeholdersOf = (kind: MailKind) => [...PLACEHOLDERS, ...(MORE_PLACEHOLDERS[kind] ?? [])]

/** Fills in the placeholders, in one pass: a value is never read as a placeholder. A subject stays one line. */
export function fillIn({ subject, text }: MailText, values: MailValues): MailText {
  const fill = (template: string) =>
    template.replace(/\{(username|link|actor|event|excerpt|host)\}/g, (_, name: keyof MailValues) => values[name] ?? '')
  return { subject: fill(subject).replace(/[\p{Cc}\u2028\u2029]+/gu, ' '), text: fill(text) }
}
