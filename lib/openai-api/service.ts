import type { Context } from '../context.ts'
import type { Actor } from '../core/actor.ts'
import { ChatError } from '../core/errors.ts'
import { SECOND } from '../core/units.ts'
import { useCase } from '../core/use-case.ts'
import { listModelsOf, unknownModel } from './models.ts'
import { echo, echoInPieces } from './rules.ts'
import { type Completion, type CompletionChunk, CompletionInput, type Model, type Models } from './schema.ts'

/** When OpenAI published the models of these names, in seconds since 1970. */
const MODELS = [
  { id: 'gpt-4', name: 'GPT-4', created: 1_687_882_411 },
  { id: 'gpt-3.5', name: 'GPT-3.5', created: 1_677_610_602 },
] as const

/** The two models of the echo, which do the same. @throws ChatError `unauthenticated` where the echo is not offered */
export const listModels = useCase({
  takes: [],
  run: (ctx): Models => {
    assertEcho(ctx)
    return toModels(MODELS)
  },
})

/** The assistants that the actor may ask, as models. */
export const listAssistants = useCase({
  takes: ['actor'],
  run: async (ctx, actor): Promise<Models> => toModels(assistantsFor(ctx, actor)),
})

/** A model: of the assistants that the actor may ask, or of the echo. @throws ChatError `not_found`; `unauthenticated` as {@link listModels} */
export const getModel = useCase({
  takes: ['actor?', 'model_id'],
  errors: ['not_found'],
  run: async (ctx, actor, id): Promise<Model> => {
    if (!actor) assertEcho(ctx)
    const model = (actor ? assistantsFor(ctx, actor) : MODELS).find((each) => each.id === id)
    if (!model) throw unknownModel(id)
    return toModel(model)
  },
})

/** A model with what lists show of it. */
interface Listed {
  id: string
  name: string
  created: number
}

/** When an assistant was made is not known. */
const assistantsFor = (ctx: Context, actor: Actor): Listed[] =>
  listModelsOf(ctx, actor).map(({ id, title }) => ({ id, name: title, created: 0 }))

const toModels = (models: readonly Listed[]): Models => ({
  object: 'list',
  data: models.map(toModel),
  models: models.map(({ id, name }) => ({ id, name, model_type: 'chat' })),
})

const toModel = ({ id, created }: Listed): Model => ({ id, object: 'model', created, owned_by: 'chat-server' })

function assertEcho({ config }: Context): void {
  if (!config.features.openai_compat) throw new ChatError('unauthenticated')
}

/**
 * Echoes the messages, each as a choice of its own: as a whole, or in chunks if the input has `stream: true`.
 *
 * It calls no model and stores nothing.
 *
 * @throws ChatError `unauthenticated` where the echo is not offered
 */
export const complete = useCase({
  takes: [],
  input: CompletionInput,
  errors: ['too_many_streams'],
  run: async (ctx, input): Promise<Completion | Iterable<CompletionChunk>> => {
    assertEcho(ctx)
    const head = { id: `chatcmpl-${ctx.id()}`, created: Math.floor(ctx.now() / SECOND), model: input.model }
    return input.stream ? echoInPieces(head, input) : echo(head, input)
  },
})
