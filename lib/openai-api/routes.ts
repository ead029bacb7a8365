import type { Config } from '../config/parse.ts'
import { contextOf } from '../core/context-of.ts'
import { ChatError } from '../core/errors.ts'
import { invoke } from '../core/use-case.ts'
import { route } from '../endpoint.ts'
import { Model, Models } from './schema.ts'
import { OpenAiId } from './schema-ids.ts'
import * as service from './service.ts'

/** The caller is known by a credential of this service; without one, and while the assistants are not offered, the echo answers. */
const COMMON = {
  tag: 'Compatibility',
  access: 'optional',
  by_token: true,
  looks_at_caller: ({ features }: Config) => features.openai_api,
} as const

export const listModels = route({
  ...COMMON,
  method: 'GET',
  path: '/v1/models',
  summary: "List the models in OpenAI's format",
  description:
    'Without a credential two models with the same behaviour: the echo. With one, and `features.openai_api`, the assistants. `features.openai_compat = false` removes the echo.',
  output: Models,
  handler: async ({ chat, actor }) => {
    const [useCase, scope] = actor ? [service.listAssistants, [actor]] : [service.listModels, []]
    return (await invoke(contextOf(chat), useCase, scope, undefined)) as Models
  },
})

export const getModel = route({
  ...COMMON,
  method: 'GET',
  path: '/v1/models/{model_id}',
  params: { model_id: OpenAiId },
  is_protocol: true,
  summary: "Read a model in OpenAI's format",
  description: 'One of the list.',
  output: Model,
  errors: service.getModel.errors,
  handler: async ({ chat, actor, params }) => {
    const ctx = contextOf(chat)
    // The echo alone has no such path.
    if (!ctx.config.features.openai_api) throw new ChatError('not_found')
    return (await invoke(ctx, service.getModel, [actor, params.model_id], undefined)) as Model
  },
})
