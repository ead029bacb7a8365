import { route } from '../../endpoint.ts'
import { AssistantList } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/assistants',
  tag: 'Threads and messages',
  summary: 'List the assistants that the caller may ask',
  description:
    'In a conversation, those that its policy allows; without one, all that the caller may ask anywhere. Empty if the service offers none.',
  access: 'session',
  output: AssistantList,
  run: service.list,
})
