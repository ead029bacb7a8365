import { defineCommand as defineGroup } from 'citty'
import { type AssistantSettings, createAssistants } from '../../lib/assistant/assistants.ts'
import { readAnswer } from '../../lib/assistant/openai/answer.ts'
import { AnswerFailure } from '../../lib/chat/answers/answer-failure.ts'
import { ChatError } from '../../lib/core/errors.ts'
import { newId } from '../../lib/core/ids.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { loadConfig } from '../config/load.ts'
import { print, printNote, table } from '../output.ts'

const list = defineCommand({
  meta: { name: 'list', description: 'List the assistants of the configuration' },
  example: 'chat-server assistant list --json',
  args: commonArgs,
  run: ({ args }) => {
    const { offered, fallback } = createAssistants(loadConfig(args).config, {})
    const assistants = offered.map(({ key, title, who, context, images, text_files, tools }) => ({
      ...{ key, title, ...(key === fallback?.key && { default: true }), who, context, images, text_files },
      tools: tools.map(({ name }) => name),
    }))
    const rows = assistants.map((each) => [
      each.key,
      each.title,
      each.default ? 'yes' : '',
      each.who.join(', ') || 'all',
      each.context,
      each.tools.join(', ') || 'none',
    ])
    const none = 'No assistant is configured: set assistant.provider, or a section of assistants.'
    const text = rows.length > 0 ? table(['KEY', 'TITLE', 'DEFAULT', 'WHO', 'CONTEXT', 'TOOLS'], rows) : none
    print(args, { assistants }, text)
  },
})

const attempt = defineCommand({
  meta: { name: 'try', description: 'Ask an assistant once, as the service would; nothing is stored' },
  example: 'chat-server assistant try "Are you there?" --json',
  args: {
    question: { type: 'positional', required: true, description: 'What to ask' },
    assistant: { type: 'string', valueHint: 'key', description: 'Which one; default: the default' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const assistants = createAssistants(loadConfig(args).config, {})
    const assistant = args.assistant === undefined ? assistants.fallback : assistants.find(args.assistant)
    if (!assistant)
      throw new UsageError(
        args.assistant === undefined ? 'assistant.provider is none' : `no assistant has the key "${args.assistant}"`,
      )
    const began = performance.now()
    let text = ''
    const { finish_reason, usage } = await ask(assistant, args.question, (piece) => {
      text += piece
      if (!args.json) process.stdout.write(piece)
    })
    const ms = Math.round(performance.now() - began)
    if (args.json) return print(args, { assistant: assistant.key, text, finish_reason, usage, ms }, '')
    process.stdout.write('\n')
    const tokens = usage?.total_tokens === undefined ? '' : `, ${usage.total_tokens} tokens`
    printNote(`${assistant.title} took ${ms} ms${tokens}, and ended with ${finish_reason}.`)
  },
})

/** Asks with the time, the instructions and the bounds of the configuration. @throws Error with the cause that the log would have */
async function ask(assistant: AssistantSettings, question: string, take: (text: string) => void) {
  const { key, system_prompt, timeout_seconds, answer_bytes, write } = assistant
  const signal = AbortSignal.timeout(timeout_seconds * 1000)
  const id = newId()
  const system = system_prompt ? [{ role: 'system' as const, content: system_prompt }] : []
  const request = {
    ...{ message_id: id, conversation_id: id, root_id: id, requested_by: id },
    assistant: key,
    purpose: 'answer' as const,
    conversation: { id, title: '' },
    metadata: {},
    ...{ tools: [], step: 1, so_far: [] },
    turns: [...system, { role: 'user' as const, content: question }],
    open: (): AsyncIterable<Uint8Array> => {
      throw new ChatError('not_found')
    },
    signal,
  }
  try {
    return await readAnswer(write(request), { signal, answer_bytes }, take)
  } catch (error) {
    const failure = signal.aborted ? new AnswerFailure('timeout') : error
    if (!(failure instanceof AnswerFailure)) throw failure
    const cause = failure.cause === undefined ? '' : ` (${String(failure.cause)})`
    throw new Error(`${failure.message}${cause}`)
  }
}

export default defineGroup({
  meta: { name: 'assistant', description: 'List assistants, and try one' },
  subCommands: { list, try: attempt },
})
