import type { LinkName } from '../../config/links.ts'
import type { AnyRoute } from '../../endpoint.ts'
import { endpoints } from '../../endpoints.ts'

/** A field of a form, besides the token. */
export interface FormField {
  name: string
  label: string
  type: 'password' | 'text'
  autocomplete: string
}

/** A form for one mailed link. */
export interface Form {
  link: LinkName
  /** The route that does the work. */
  route: AnyRoute
  title: string
  /** What the form does, above its fields. */
  text: string
  fields: FormField[]
  button: string
  /** What the page shows afterwards. */
  done: string
}

/** What confirms an address has no fields: the link in the mail is enough. */
const CONFIRM = {
  text: 'Confirm only if the account named in the mail is yours.',
  fields: [],
  button: 'Confirm',
}

/** What a newcomer chooses, and what the page shows afterwards. */
const NEW_ACCOUNT: FormField[] = [
  { name: 'username', label: 'Username', type: 'text', autocomplete: 'username' },
  { name: 'password', label: 'Password', type: 'password', autocomplete: 'new-password' },
]
const ACCOUNT_MADE = 'Your account is made, and you are signed in here.'

/** The forms that the service has where no page of another application is configured. */
export const FORMS: readonly Form[] = [
  {
    link: 'reset_password',
    route: endpoints.resets.redeem,
    title: 'Set a new password',
    text: 'All sessions and API keys of your account end.',
    fields: [{ name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password' }],
    button: 'Set the password',
    done: 'Your new password is set. You can sign in with it now.',
  },
  {
    link: 'verify_email',
    route: endpoints.emails.verify,
    title: 'Confirm your e-mail address',
    ...CONFIRM,
    done: 'Your e-mail address is confirmed.',
  },
  {
    link: 'change_email',
    route: endpoints.emails.confirmChange,
    title: 'Confirm your new e-mail address',
    ...CONFIRM,
    done: 'Your account has this e-mail address now.',
  },
  {
    link: 'undo_email',
    route: endpoints.emails.undoChange,
    title: 'Get your e-mail address back',
    text: 'Your account gets its former address back. All its sessions and API keys end.',
    fields: [],
    button: 'Undo the change',
    done: 'Your account has its former address again. Set a new password now.',
  },
  {
    link: 'conversation_invite',
    route: endpoints.invites.accept,
    title: 'Join a conversation',
    text: 'Make an account for the address that got the mail. With an account, accept the invite where you are signed in.',
    fields: [{ name: 'email', label: 'E-mail address', type: 'text', autocomplete: 'email' }, ...NEW_ACCOUNT],
    button: 'Make the account and join',
    done: ACCOUNT_MADE,
  },
  {
    link: 'invite',
    route: endpoints.newcomers.signUp,
    title: 'Make your account',
    text: 'The account is for the address that got the mail.',
    fields: NEW_ACCOUNT,
    button: 'Make the account',
    done: ACCOUNT_MADE,
  },
]
