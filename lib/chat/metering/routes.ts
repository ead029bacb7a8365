import { route } from '../../endpoint.ts'
import { OwnUsage, UsageReportPage } from './schema.ts'
import * as service from './service.ts'

export const get = route({
  method: 'GET',
  path: '/api/usage',
  tag: 'Threads and messages',
  summary: 'Get what you have used of the assistant, today and this month',
  description:
    'The tokens of your questions and their answers, in UTC days and months, and what they cost by the prices of the service. What a provider has not counted is estimated by the size of the texts. A deleted message still counts.',
  access: 'session',
  output: OwnUsage,
  run: service.get,
})

export const report = route({
  method: 'GET',
  path: '/api/admin/usage',
  tag: 'Administration',
  summary: 'List what the assistant has used, by user, assistant, model, day or conversation',
  description:
    'From sums of UTC days and months, by when the questions were asked. Days are listed from the latest on, others by their tokens, the most first.',
  access: 'admin',
  output: UsageReportPage,
  run: service.report,
})
