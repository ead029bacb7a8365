// Made from the routes by `npm run docs`: change it there. With it a browser loads neither the routes nor their schemas.
import type { Operation } from './operation.ts'

/** Every endpoint of administrators and programs, by its feature and verb. */
export const ADMIN_OPERATIONS = {
  audit: {
    list: { method: 'GET', path: '/api/admin/audit', input: 'query' },
  },
  keys: {
    listAll: { method: 'GET', path: '/api/admin/keys', input: 'query' },
    revokeAny: { method: 'DELETE', path: '/api/admin/keys/{key_id}' },
  },
  limits: {
    createAssignment: { method: 'POST', path: '/api/admin/limits/assignments', input: 'body' },
    createProfile: { method: 'POST', path: '/api/admin/limits/profiles', input: 'body' },
    deleteAssignment: { method: 'DELETE', path: '/api/admin/limits/assignments/{id}' },
    deleteProfile: { method: 'DELETE', path: '/api/admin/limits/profiles/{id}' },
    listAssignments: { method: 'GET', path: '/api/admin/limits/assignments' },
    listProfiles: { method: 'GET', path: '/api/admin/limits/profiles', input: 'query' },
    reset: { method: 'POST', path: '/api/admin/limits/reset', input: 'body' },
    status: { method: 'GET', path: '/api/admin/limits/status', input: 'query' },
    updateProfile: { method: 'PUT', path: '/api/admin/limits/profiles/{id}', input: 'body' },
  },
  newcomers: {
    invite: { method: 'POST', path: '/api/admin/invites', input: 'body' },
    list: { method: 'GET', path: '/api/admin/invites', input: 'query' },
    revoke: { method: 'DELETE', path: '/api/admin/invites/{invite_id}' },
  },
  nodes: {
    list: { method: 'GET', path: '/api/admin/nodes' },
  },
  openai: {
    complete: { method: 'POST', path: '/v1/chat/completions', input: 'body', is_read: true },
    listModels: { method: 'GET', path: '/v1/models' },
  },
  ops: {
    health: { method: 'GET', path: '/healthz' },
    metrics: { method: 'GET', path: '/metrics', answer: 'text' },
    readiness: { method: 'GET', path: '/readyz' },
  },
  tasks: {
    list: { method: 'GET', path: '/api/admin/tasks', input: 'query' },
  },
  usage: {
    list: { method: 'GET', path: '/api/admin/attachments', input: 'query' },
  },
  users: {
    change: { method: 'PATCH', path: '/api/admin/users/{user_id}', input: 'body' },
    create: { method: 'POST', path: '/api/admin/users', input: 'body' },
    describe: { method: 'GET', path: '/api/admin/users/{user_id}' },
    endSession: { method: 'DELETE', path: '/api/admin/users/{user_id}/sessions/{session_id}' },
    endSessions: { method: 'DELETE', path: '/api/admin/users/{user_id}/sessions' },
    erase: { method: 'DELETE', path: '/api/admin/users/{user_id}', input: 'query' },
    issueReset: { method: 'POST', path: '/api/admin/users/{user_id}/reset-link' },
    list: { method: 'GET', path: '/api/admin/users', input: 'query' },
    listSessions: { method: 'GET', path: '/api/admin/users/{user_id}/sessions', input: 'query' },
    lockDown: { method: 'POST', path: '/api/admin/users/{user_id}/lockdown' },
    removeAvatar: { method: 'DELETE', path: '/api/admin/users/{user_id}/avatar' },
    unlock: { method: 'POST', path: '/api/admin/users/{user_id}/unlock' },
  },
  wellKnown: {
    get: { method: 'GET', path: '/.well-known/{path}', answer: 'text', takes_rest: true },
  },
} as const satisfies Record<string, Record<string, Operation>>
