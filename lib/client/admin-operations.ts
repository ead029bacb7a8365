// Made from the routes by `npm run docs`: change it there. With it a browser loads neither the routes nor their schemas.
import type { Operation } from './operation.ts'

/** Every endpoint of administrators and programs, by its feature and verb. */
export const ADMIN_OPERATIONS = {
  audit: {
    list: {
      method: 'GET',
      path: '/api/admin/audit',
      input: 'query',
      names: { after: 0, limit: 0, act: 0, user_id: 0 },
      is_read: true,
    },
  },
  limits: {
    createAssignment: {
      method: 'POST',
      path: '/api/admin/limits/assignments',
      input: 'body',
      names: { profile_id: 0, method: 0, path: 0 },
    },
    createProfile: {
      method: 'POST',
      path: '/api/admin/limits/profiles',
      input: 'body',
      names: { name: 0, algorithm: 0, params: { requests_per_second: 0, burst: 0 }, description: 0 },
    },
    deleteAssignment: { method: 'DELETE', path: '/api/admin/limits/assignments/{id}' },
    deleteProfile: { method: 'DELETE', path: '/api/admin/limits/profiles/{id}' },
    listAssignments: { method: 'GET', path: '/api/admin/limits/assignments', is_read: true },
    listProfiles: {
      method: 'GET',
      path: '/api/admin/limits/profiles',
      input: 'query',
      names: { after: 0 },
      is_read: true,
    },
    reset: { method: 'POST', path: '/api/admin/limits/reset', input: 'body', names: { user_id: 0, address: 0 } },
    status: { method: 'GET', path: '/api/admin/limits/status', input: 'query', names: { user_id: 0 }, is_read: true },
    updateProfile: {
      method: 'PUT',
      path: '/api/admin/limits/profiles/{id}',
      input: 'body',
      names: { params: { requests_per_second: 0, burst: 0 }, description: 0 },
    },
  },
  newcomers: {
    invite: {
      method: 'POST',
      path: '/api/admin/invites',
      input: 'body',
      names: { email: 0, roles: 0, ttl_seconds: 0, mail: 0 },
    },
    list: { method: 'GET', path: '/api/admin/invites', input: 'query', names: { after: 0, limit: 0 }, is_read: true },
    revoke: { method: 'DELETE', path: '/api/admin/invites/{invite_id}' },
  },
  nodes: {
    list: { method: 'GET', path: '/api/admin/nodes', is_read: true },
  },
  openai: {
    complete: {
      method: 'POST',
      path: '/v1/chat/completions',
      input: 'body',
      names: { model: 0, messages: { role: 0, content: { type: 0, text: 0 } }, stream: 0, stream_options: { include_usage: 0 } },
      is_read: true,
    },
    listModels: { method: 'GET', path: '/v1/models', is_read: true },
  },
  ops: {
    health: { method: 'GET', path: '/healthz', is_read: true },
    metrics: { method: 'GET', path: '/metrics', answer: 'text', is_read: true },
    readiness: { method: 'GET', path: '/readyz', is_read: true },
  },
  tasks: {
    list: { method: 'GET', path: '/api/admin/tasks', input: 'query', names: { after: 0, limit: 0 }, is_read: true },
  },
  users: {
    change: {
      method: 'PATCH',
      path: '/api/admin/users/{user_id}',
      input: 'body',
      names: { username: 0, email: 0, email_verified: 0, roles: 0, disabled: 0, display_name: 0, password: 0 },
    },
    create: {
      method: 'POST',
      path: '/api/admin/users',
      input: 'body',
      names: { username: 0, email: 0, email_verified: 0, password: 0, roles: 0, display_name: 0 },
    },
    describe: { method: 'GET', path: '/api/admin/users/{user_id}', is_read: true },
    endSession: { method: 'DELETE', path: '/api/admin/users/{user_id}/sessions/{session_id}' },
    endSessions: { method: 'DELETE', path: '/api/admin/users/{user_id}/sessions' },
    erase: { method: 'DELETE', path: '/api/admin/users/{user_id}', input: 'query', names: { messages: 0 } },
    issueReset: { method: 'POST', path: '/api/admin/users/{user_id}/reset-link' },
    list: {
      method: 'GET',
      path: '/api/admin/users',
      input: 'query',
      names: { query: 0, after: 0, limit: 0 },
      is_read: true,
    },
    listSessions: {
      method: 'GET',
      path: '/api/admin/users/{user_id}/sessions',
      input: 'query',
      names: { after: 0, limit: 0 },
      is_read: true,
    },
    lockDown: { method: 'POST', path: '/api/admin/users/{user_id}/lockdown' },
    unlock: { method: 'POST', path: '/api/admin/users/{user_id}/unlock' },
  },
  wellKnown: {
    get: { method: 'GET', path: '/.well-known/{path}', answer: 'text', is_read: true, takes_rest: true },
  },
} as const satisfies Record<string, Record<string, Operation>>
