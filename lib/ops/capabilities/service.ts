import { oauthProviders } from '../../config/oauth.ts'
import { useCase } from '../../core/use-case.ts'
import type { Capabilities } from './schema.ts'

/** What the service offers and allows, as it is configured. Nothing in it is of a user, and nothing is secret. */
export const get = useCase({
  takes: [],
  run: ({ config, host: { identity }, mail: { outbox }, search }): Capabilities => {
    const { cookie_name, header_name, enabled } = config.security.csrf
    const { message_bytes, max_depth, reactions_per_message, pins } = config.limits
    const { attachments: files, avatars } = config
    const hasSignIn = !identity
    return {
      sign_in: hasSignIn,
      providers: hasSignIn ? oauthProviders(config).map(({ name, title }) => ({ name, title })) : [],
      mail: outbox !== undefined,
      sign_up: hasSignIn && config.invites.allow_signup,
      web: config.server.web === true,
      search: search.isOn(),
      ...(files.enabled && { attachments: { max_bytes: files.max_bytes, types: files.types } }),
      ...(avatars.enabled && { avatars: { max_bytes: avatars.max_bytes } }),
      default_layout: config.conversations.default_layout,
      direct: config.direct.enabled,
      ...(hasSignIn && enabled && { csrf: { cookie_name, header_name } }),
      limits: { message_bytes, max_depth, reactions_per_message, pins },
    }
  },
})
