import { route } from '../endpoint.ts'
import { TaskPage } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/admin/tasks',
  tag: 'Administration',
  summary: 'List the work in the background, oldest first',
  description:
    'What goes on after the requests that asked for it: deleted conversations and erased users are out of sight at once, and removed in the background. A task that is done is not in the list.',
  access: 'admin',
  output: TaskPage,
  run: service.list,
})
