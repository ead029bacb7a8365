import type { PartChange } from '../../chat/answers/schema-parts.ts'
import { createAnswerParts } from '../answer-parts.ts'
import { type AnswerOutput, ENDED } from '../ask.ts'
import type { ChunkWriter } from '../chunk-writer.ts'
import { type Draft, endText } from '../drafts.ts'
import type { SoFar } from '../so-far.ts'

/** Where the text and the parts of one step go, until this process has lost the answer. */
export interface StepOutput extends AnswerOutput {
  /** Whether anything has come. */
  hasBegun(): boolean
  /** What the answer has of what is limited, with this step. */
  used(): SoFar['used']
}

/** @param deps.id makes the id of a call */
export function createStepOutput(
  { id, chunkWriter }: { id: () => string; chunkWriter: ChunkWriter },
  run: Draft & { control: AbortController },
  { step, so_far }: { step: number; so_far: SoFar },
): StepOutput {
  const sink = {
    next: () => endText(run),
    add: (part: PartChange, provider_data?: string) => chunkWriter.addRow(run, { content: '', part, provider_data }),
  }
  const parts = createAnswerParts(sink, id, { step, so_far })
  let hasBegun = false

  /** The first row of a later step says so: without it, the model can be asked again. */
  function begin(): void {
    if (!hasBegun && step > 1) parts.addStep()
    hasBegun = true
  }

  const stopIfLost = () => run.isLost && run.control.abort(ENDED)
  return {
    text(text, provider_data) {
      begin()
      if (provider_data === undefined) chunkWriter.add(run, text)
      else chunkWriter.addRow(run, { content: text, provider_data })
      stopIfLost()
    },
    part(part) {
      begin()
      parts.add(part)
      stopIfLost()
    },
    file(file, provider_data) {
      begin()
      parts.addFile(file, provider_data)
      stopIfLost()
    },
    hasBegun: () => hasBegun,
    used: () => ({ ...parts.used() }),
  }
}
