import { hasSignIn } from '../../accounts/authentication/rules.ts'
import { mcpUrlOf } from '../../config/base-path.ts'
import { oauthProviders } from '../../config/oauth.ts'
import { useCase } from '../../core/use-case.ts'
import type { Capabilities } from './schema.ts'

/** The protocols that the service has. */
const PROTOCOLS = ['ui_stream', 'openai_api', 'ag_ui'] as const

/** What the service offers and allows, as it is configured. Nothing in it is of a user, and nothing is secret. */
export const get = useCase({
  takes: [],
  run: ({ access, config, assistants, host, mail: { outbox }, search }): Capabilities => {
    const { cookie_name, header_name, enabled } = config.security.csrf
    const { message_bytes, max_depth, reactions_per_message, pins } = config.limits
    const participant_roles = [...access.participant].map(([name, rights]) => ({ name, rights: [...rights] }))
    const [assistant] = assistants.offered
    const { attachments: files, avatars, invites } = config
    const signsIn = hasSignIn({ config, host })
    return {
      sign_in: signsIn,
      providers: signsIn ? oauthProviders(config).map(({ name, title }) => ({ name, title })) : [],
      mail: outbox !== undefined,
      sign_up: signsIn && invites.allow_signup,
      web: config.server.web === true,
      search: search.isOn(),
      ...(assistant && { assistant: { name: assistant.title } }),
      ...(files.enabled && { attachments: { max_bytes: files.max_bytes, types: files.types } }),
      ...(avatars.enabled && { avatars: { max_bytes: avatars.max_bytes } }),
      default_layout: config.conversations.default_layout,
      direct: config.direct.enabled,
      bots: config.bots.enabled === true,
      hooks: config.hooks.enabled === true,
      webhooks: config.webhooks.enabled,
      ...(config.features.mcp && { mcp: { url: mcpUrlOf(config) } }),
      protocols: PROTOCOLS.filter((protocol) => config.features[protocol]),
      access: {
        guests: config.guests.enabled,
        directory: [...access.service.values()].some((rights) => rights.has('browse')),
        roles: [...access.service.keys()],
        participant_roles,
      },
      ...(!host.identity && enabled && { csrf: { cookie_name, header_name } }),
      limits: {
        ...{ message_bytes, max_depth, reactions_per_message, pins },
        invite_uses: invites.max_uses,
        sign_up_uses: invites.signup_max_uses,
      },
    }
  },
})
