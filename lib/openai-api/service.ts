import { SECOND } from '../core/units.ts'
import { useCase } from '../core/use-case.ts'
import { echo, echoInPieces } from './rules.ts'
import { type Completion, type CompletionChunk, CompletionInput, type Models } from './schema.ts'

/** When OpenAI published the models of these names, in seconds since 1970. */
const MODELS = [
  { id: 'gpt-4', name: 'GPT-4', created: 1_687_882_411 },
  { id: 'gpt-3.5', name: 'GPT-3.5', created: 1_677_610_602 },
] as const

/** The two models of this API; both do the same. */
export const listModels = useCase({
  takes: [],
  run: (_ctx): Models => {
    return {
      object: 'list',
      data: MODELS.map(({ id, created }) => ({ id, object: 'model', created, owned_by: 'chat-server' })),
      models: MODELS.map(({ id, name }) => ({ id, name, model_type: 'chat' })),
    }
  },
})

/**
 * Echoes the messages, each as a choice of its own: as a whole, or in chunks if the input has `stream: true`.
 *
 * It calls no model and stores nothing.
 */
export const complete = useCase({
  takes: [],
  input: CompletionInput,
  errors: ['too_many_streams'],
  run: async (ctx, input): Promise<Completion | Iterable<CompletionChunk>> => {
    const head = { id: `chatcmpl-${ctx.id()}`, created: Math.floor(ctx.now() / SECOND), model: input.model }
    return input.stream ? echoInPieces(head, input) : echo(head, input)
  },
})
