import { contextOf } from '../../core/context-of.ts'
import { invoke as call } from '../../core/use-case.ts'
import { route } from '../../endpoint.ts'
import { Approval, ApprovalPage, Decided, Decision } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/approvals',
  tag: 'Threads and messages',
  summary: 'List the calls of tools on which participants decide, newest first',
  description:
    'Of all conversations in which you participate, or of one. With `mine=true` those on which you may still decide. A page can be short, or empty: continue with `after` while there is `next_after`.',
  access: 'session',
  output: ApprovalPage,
  run: service.list,
})

export const get = route({
  method: 'GET',
  path: '/api/approvals/{call_id}',
  tag: 'Threads and messages',
  summary: 'Get a call of a tool on which participants decide',
  description: 'For participants of its conversation. Those who may decide read the whole input.',
  access: 'session',
  output: Approval,
  run: service.get,
})

export const decide = route({
  method: 'POST',
  path: '/api/approvals/{call_id}',
  tag: 'Threads and messages',
  summary: 'Approve or deny a call of a tool',
  description:
    'The input that is stored runs, once enough participants approve; one denial ends it. Who may decide is in the approval (`by`); those who manage the conversation may always deny. The same decision again changes nothing; another one after the outcome is a `conflict`. A key needs a tool that allows keys, and no program decides.',
  access: 'session',
  example: { approve: true },
  output: Decided,
  body: Decision,
  errors: service.decide.errors,
  handler: async ({ chat, actor, params, body }) => ({
    approval: (await call(contextOf(chat), service.decide, [actor, params.call_id], body)) as Approval,
  }),
})
