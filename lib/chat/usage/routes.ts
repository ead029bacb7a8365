import { route } from '../../endpoint.ts'
import { StorageUsagePage } from './schema.ts'
import * as service from './service.ts'

export const list = route({
  method: 'GET',
  path: '/api/admin/attachments',
  tag: 'Administration',
  summary: 'List what users or conversations store, largest first',
  description:
    'From sums that are made once a day, and by a request that finds them older than an hour: it waits up to five seconds for new ones, and otherwise has the old ones (`as_of`). The pages after the first are of the same sums. A file that several messages have counts for each; a file that no message has any more counts for its uploader until its bytes are deleted.',
  access: 'admin',
  output: StorageUsagePage,
  run: service.list,
})
