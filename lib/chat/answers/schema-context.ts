import * as v from 'valibot'

/** The turns that a question may come with. */
export const MAX_CONTEXT_TURNS = 200

/** A turn that a program gave with its question. */
export const ContextTurn = v.object({ role: v.picklist(['system', 'user', 'assistant']), content: v.string() })
export type ContextTurn = v.InferOutput<typeof ContextTurn>

/** What the assistant was told before a question, oldest first. */
export const QuestionContext = v.pipe(
  v.array(ContextTurn),
  v.description(
    `What the program that asked told the assistant before the question, up to ${MAX_CONTEXT_TURNS} turns, in reads of this message alone`,
  ),
)
export type QuestionContext = v.InferOutput<typeof QuestionContext>
