import { route } from '../endpoint.ts'
import { TaskPage } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/admin/tasks',
  tag: 'Administration',
  summary: 'List background tasks, oldest first',
  description:
    'Deleted conversations and erased users are hidden at once, and background tasks remove their data. Finished tasks are not listed.',
  access: 'admin',
  output: TaskPage,
  run: service.list,
})
