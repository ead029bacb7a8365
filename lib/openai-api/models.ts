import { refusalToAsk } from '../chat/assistants/rules.ts'
import type { Context } from '../context.ts'
import type { Actor } from '../core/actor.ts'
import { ChatError } from '../core/errors.ts'
import { DEFAULT_MODEL } from './responses/rules.ts'

/** What clients of OpenAI get to know of an assistant. */
export interface AssistantModel {
  id: string
  title: string
}

/** The assistants that an actor may ask, with the default one always: without any, the echo stands in for it. */
export function listModelsOf({ assistants }: Context, actor: Actor): AssistantModel[] {
  const { offered, fallback } = assistants
  const asked = offered.filter((each) => each === fallback || !refusalToAsk(each, { actor }))
  return asked.length > 0 ? asked.map(({ key, title }) => ({ id: key, title })) : [{ id: DEFAULT_MODEL, title: 'Echo' }]
}

/**
 * The assistant of a model that a client names; `undefined` if it names none, and for the echo.
 *
 * @throws ChatError `not_found`
 */
export function assistantOfModel(ctx: Context, actor: Actor, model: string | null | undefined): string | undefined {
  if (model === undefined || model === null) return undefined
  if (!listModelsOf(ctx, actor).some(({ id }) => id === model)) throw unknownModel(model)
  return ctx.assistants.find(model) ? model : undefined
}

export const unknownModel = (id: string) =>
  new ChatError('not_found', { message: `There is no model ${JSON.stringify(id)}.` })
