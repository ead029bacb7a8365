import * as v from 'valibot'
import { route } from '../endpoint.ts'
import { LimitAssignment, LimitProfile } from './schema.ts'
import * as service from './service.ts'

export const listProfiles = route({
  method: 'GET',
  path: '/api/admin/limits/profiles',
  tag: 'Administration',
  summary: 'List the profiles of rate limits, by name',
  description:
    '404 unless `rate_limits.admin_api_enabled` is on, like all calls about limits. A page ends early if descriptions are long: continue with `after`, the last name, until the page is empty.',
  access: 'admin',
  output: v.array(LimitProfile),
  run: service.listProfiles,
})

export const createProfile = route({
  method: 'POST',
  path: '/api/admin/limits/profiles',
  tag: 'Administration',
  summary: 'Create a profile; it has no effect until it is assigned',
  description:
    'Names are unique; at most 1,000 profiles (`conflict`). After a pause, `burst` requests pass at once, then `requests_per_second`.',
  access: 'admin',
  example: { name: 'slow', params: { requests_per_second: 0.5, burst: 5 } },
  status: 201,
  output: LimitProfile,
  run: service.createProfile,
})

export const updateProfile = route({
  method: 'PUT',
  path: '/api/admin/limits/profiles/{id}',
  tag: 'Administration',
  summary: 'Change the parameters and the description of a profile',
  description: 'Applies from the next request on, in every process.',
  access: 'admin',
  example: { params: { requests_per_second: 1, burst: 10 } },
  output: LimitProfile,
  run: service.updateProfile,
})

export const deleteProfile = route({
  method: 'DELETE',
  path: '/api/admin/limits/profiles/{id}',
  tag: 'Administration',
  summary: 'Delete a profile without assignments',
  description: 'Refused while the profile is assigned (`profile_in_use`).',
  access: 'admin',
  status: 204,
  run: service.deleteProfile,
})

export const listAssignments = route({
  method: 'GET',
  path: '/api/admin/limits/assignments',
  tag: 'Administration',
  summary: 'List the assignments of profiles to routes',
  description: 'Routes without an assignment use the configured default limit.',
  access: 'admin',
  output: v.array(LimitAssignment),
  run: service.listAssignments,
})

export const createAssignment = route({
  method: 'POST',
  path: '/api/admin/limits/assignments',
  tag: 'Administration',
  summary: 'Assign a profile to a route, or to all routes with a prefix',
  description:
    "The path is a route's path as in this document, or a prefix followed by `*`. If several match, the longest wins. At most 1,000 assignments (`conflict`).",
  access: 'admin',
  example: { profile_id: '01980a3c-a000-7a10-8b20-0c4f1d2e3a46', method: 'GET', path: '/api/users' },
  status: 201,
  output: LimitAssignment,
  run: service.createAssignment,
})

export const deleteAssignment = route({
  method: 'DELETE',
  path: '/api/admin/limits/assignments/{id}',
  tag: 'Administration',
  summary: 'Delete an assignment',
  description: 'The route then uses the next matching assignment, or the configured default limit.',
  access: 'admin',
  status: 204,
  run: service.deleteAssignment,
})
