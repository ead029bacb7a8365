import * as v from 'valibot'
import { Layout } from '../../chat/conversations/schema-look.ts'
import { PARTICIPANT_RIGHTS } from '../../core/access.ts'

/** A provider that can sign users in. */
export const OfferedProvider = v.object({
  name: v.pipe(v.string(), v.description('As in `POST /api/oauth/{provider}`')),
  title: v.pipe(v.string(), v.description('For a button')),
})

/** The maximum sizes of what users write. */
export const OfferedLimits = v.object({
  message_bytes: v.pipe(v.number(), v.description('Length of a message, in UTF-8')),
  max_depth: v.pipe(v.number(), v.description('Depth of replies; the root of a thread has depth 0')),
  reactions_per_message: v.pipe(v.number(), v.description('Number of different emoji on a message')),
  pins: v.pipe(v.number(), v.description('Number of pinned messages of a conversation')),
  invite_uses: v.pipe(v.number(), v.description('Number of uses of an invite')),
  sign_up_uses: v.pipe(v.number(), v.description('Number of accounts that one invite creates')),
})

/** The assistant that pages offer. */
export const OfferedAssistant = v.object({ name: v.pipe(v.string(), v.description('For buttons and answers')) })

/** The files that messages can have. */
export const OfferedFiles = v.object({
  max_bytes: v.pipe(v.number(), v.description('Size of a file')),
  types: v.pipe(v.array(v.string()), v.description('The media types that are allowed; empty: all')),
})

/** The photos that users can set. */
export const OfferedPhotos = v.object({ max_bytes: v.pipe(v.number(), v.description('Size of a photo')) })

/** Where agents use the chat. */
export const OfferedMcp = v.object({
  url: v.pipe(v.string(), v.description('The URL; without `server.public_url`, its path')),
})

/** A role of participants, and what it may do in a conversation whose policy says nothing of it. */
export const OfferedRole = v.object({ name: v.string(), rights: v.array(v.picklist(PARTICIPANT_RIGHTS)) })

/** The roles that there are. */
export const OfferedAccess = v.object({
  guests: v.pipe(v.boolean(), v.description('Whether visitors may be guests, without a sign-in')),
  directory: v.pipe(v.boolean(), v.description('Whether there are users who may browse the public rooms')),
  roles: v.pipe(v.array(v.string()), v.description('The roles in the service')),
  participant_roles: v.pipe(v.array(OfferedRole), v.description('The roles in conversations')),
})

/** The cookie and the header of the CSRF token. */
export const CsrfNames = v.object({ cookie_name: v.string(), header_name: v.string() })

/** What a page shows before a sign-in depends on. */
export const Capabilities = v.object({
  sign_in: v.pipe(v.boolean(), v.description('`false`: the application around the service identifies its callers')),
  providers: v.pipe(v.array(OfferedProvider), v.description('The providers that can sign users in')),
  mail: v.pipe(v.boolean(), v.description('Whether the service sends mail, such as links to reset a password')),
  sign_up: v.pipe(v.boolean(), v.description('Whether an invite can create an account')),
  web: v.pipe(v.boolean(), v.description('Whether the service has the web chat at its root')),
  search: v.pipe(v.boolean(), v.description('Whether messages can be searched')),
  /** Missing if none is configured: questions are then refused, or answered with an echo. */
  assistant: v.optional(OfferedAssistant),
  attachments: v.optional(OfferedFiles),
  avatars: v.optional(OfferedPhotos),
  default_layout: v.pipe(Layout, v.description('The layout of a new conversation for which none is chosen')),
  direct: v.pipe(v.boolean(), v.description('Whether direct conversations can be opened')),
  bots: v.pipe(v.boolean(), v.description('Whether users can make bots')),
  hooks: v.pipe(v.boolean(), v.description('Whether owners and admins can make addresses at which tools post')),
  webhooks: v.pipe(v.boolean(), v.description('Whether users can have events sent to URLs')),
  /** Missing if it is off. */
  mcp: v.optional(OfferedMcp),
  protocols: v.pipe(
    v.array(v.picklist(['ui_stream', 'openai_api', 'ag_ui'])),
    v.description('The protocols of others in which answers are streamed: that of the AI SDK, that of OpenAI, AG-UI'),
  ),
  access: OfferedAccess,
  /** Missing if the service checks no CSRF token. */
  csrf: v.optional(CsrfNames),
  limits: OfferedLimits,
})
export type Capabilities = v.InferOutput<typeof Capabilities>
