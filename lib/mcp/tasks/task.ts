import type { Approval } from '../../chat/approvals/schema.ts'
import * as approvals from '../../chat/approvals/service.ts'
import type { Message } from '../../chat/messages/schema.ts'
import { get as getMessage } from '../../chat/messages/service.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { isId } from '../../core/schema.ts'
import { bind } from '../../core/use-case.ts'
import type { Revision } from '../message.ts'
import { isObject, type Json } from '../protocol.ts'
import { answerResult } from '../tools/results.ts'
import { taskHead } from '../tools/task-head.ts'

/** An answer as a task, complete as `tasks/get` returns it. */
export interface Task extends Json {
  taskId: string
  status: 'working' | 'input_required' | 'completed' | 'cancelled'
}

/** Who reads a task, and what its client can do. */
export interface TaskReader {
  ctx: Context
  actor: Actor
  revision: Revision
}

/** @throws ChatError `not_found` for what is no answer, or cannot be read */
export async function findAnswer({ ctx, actor }: TaskReader, taskId: unknown): Promise<Message> {
  if (typeof taskId !== 'string' || !isId(taskId)) throw new ChatError('not_found')
  const message = await bind(ctx, getMessage)(actor, taskId)
  if (message.role !== 'assistant') throw new ChatError('not_found')
  return message
}

/** An answer as a task. */
export async function toTask(reader: TaskReader, message: Message): Promise<Task> {
  const head = taskHead(reader.ctx, message)
  switch (message.status) {
    case 'streaming':
      return { ...head, status: 'working' }
    case 'waiting':
      return waitingTask(reader, message, head)
    case 'cancelled':
      return { ...head, status: 'cancelled' }
    default: {
      const isError = message.status !== 'complete' && { isError: true }
      return { ...head, status: 'completed', result: { ...answerResult(reader.ctx, message), ...isError } }
    }
  }
}

async function waitingTask(reader: TaskReader, message: Message, head: ReturnType<typeof taskHead>): Promise<Task> {
  const due = takesForms(reader.revision) ? await listDecidable(reader, message) : []
  if (due.length === 0) return { ...head, status: 'working', statusMessage: 'A call of a tool waits for an approval.' }
  return {
    ...head,
    status: 'input_required',
    inputRequests: Object.fromEntries(due.map((each) => [each.call_id, toForm(each)])),
  }
}

/** Whether a client can ask its user; one that says nothing of forms and URLs takes forms. */
function takesForms({ capabilities: { elicitation } }: Revision): boolean {
  return isObject(elicitation) && (isObject(elicitation.form) || !('url' in elicitation))
}

/** The calls of an answer on which the actor may decide. */
export async function listDecidable({ ctx, actor }: TaskReader, message: Message): Promise<Approval[]> {
  const { id, conversation_id } = message
  try {
    const page = await bind(ctx, approvals.list)(actor, { conversation_id, state: 'waiting', mine: true, limit: 200 })
    return page.approvals.filter(({ message_id }) => message_id === id)
  } catch (error) {
    // A part of the host decides nothing, and a reader who does not participate neither.
    if (error instanceof ChatError && error.status === 403) return []
    throw error
  }
}

/** How much of the input of a call a form shows. */
const MAX_SHOWN_INPUT = 2_000

/** Asks a user to decide on a call. */
function toForm({ tool, input }: Approval): Json {
  const shown = input === undefined ? '' : `\n\nIts input: ${JSON.stringify(input).slice(0, MAX_SHOWN_INPUT)}`
  return {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: `The assistant wants to call the tool "${tool.title}". Do you approve?${shown}`,
      requestedSchema: {
        type: 'object',
        properties: {
          approve: { type: 'boolean', title: 'Approve' },
          reason: { type: 'string', title: 'Reason', maxLength: 500 },
        },
        required: ['approve'],
      },
    },
  }
}
