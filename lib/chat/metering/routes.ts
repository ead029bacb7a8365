import { route } from '../../endpoint.ts'
import { OwnUsage, UsageReportPage, UserQuota, UserQuotaState } from './schema.ts'
import * as service from './service.ts'
import * as quotas from './service-quotas.ts'

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

export const reportCsv = route({
  method: 'GET',
  path: '/api/admin/usage.csv',
  tag: 'Administration',
  summary: 'Get what the assistant has used as CSV, by user, assistant, model, day or conversation',
  description:
    'The whole report for spreadsheets (RFC 4180), with a line of headings, at most 10,000 rows: beyond that `validation_failed`, and it is read in pages, or for fewer days. A row of a user has the username, too; `cost` is in units of `currency`. A text that is like a formula begins with an apostrophe.',
  access: 'admin',
  answer: 'text',
  content_type: 'text/csv; charset=utf-8',
  run: service.reportCsv,
})

export const getQuota = route({
  method: 'GET',
  path: '/api/admin/users/{user_id}/quota',
  tag: 'Administration',
  summary: 'Get how much of the assistant a user may use',
  description: "The user's own quota, if one is set, and the quotas of the user's roles, which hold without it.",
  access: 'admin',
  output: UserQuotaState,
  run: quotas.getQuota,
})

export const setQuota = route({
  method: 'PUT',
  path: '/api/admin/users/{user_id}/quota',
  tag: 'Administration',
  summary: 'Set how much of the assistant a user may use',
  description:
    "Instead of the quotas of the user's roles, in each day and each month in UTC; what is left out is not limited. The quotas of the service still apply.",
  access: 'admin',
  example: { day: { answers: 100 }, month: { tokens: 2_000_000 } },
  output: UserQuota,
  run: quotas.setQuota,
})

export const clearQuota = route({
  method: 'DELETE',
  path: '/api/admin/users/{user_id}/quota',
  tag: 'Administration',
  summary: 'Let a user use as much of the assistant as the roles of the user may',
  description: 'Repeatable: 204 as well if the user has no quota of their own.',
  access: 'admin',
  status: 204,
  run: quotas.clearQuota,
})
