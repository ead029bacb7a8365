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
    '404 unless `rate_limits.admin_api_enabled` is on, as all calls about limits. The list ends early where descriptions are long: go on with `after`, the last name, until nothing comes.',
  access: 'admin',
  output: v.array(LimitProfile),
  run: service.listProfiles,
})

export const createProfile = route({
  method: 'POST',
  path: '/api/admin/limits/profiles',
  tag: 'Administration',
  summary: 'Make a profile; it limits nothing until it is assigned',
  description:
    'Names are unique, and there are at most 1,000 (`conflict`). `burst` calls are let through at once from rest, then `requests_per_second`.',
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
  description: 'Takes effect with the next call, in every process.',
  access: 'admin',
  example: { params: { requests_per_second: 1, burst: 10 } },
  output: LimitProfile,
  run: service.updateProfile,
})

export const deleteProfile = route({
  method: 'DELETE',
  path: '/api/admin/limits/profiles/{id}',
  tag: 'Administration',
  summary: 'Delete a profile that is assigned to no route',
  description: 'Refused while the profile is assigned (`profile_in_use`).',
  access: 'admin',
  status: 204,
  run: service.deleteProfile,
})

export const listAssignments = route({
  method: 'GET',
  path: '/api/admin/limits/assignments',
  tag: 'Administration',
  summary: 'List which routes have which profile',
  description: 'Routes without an assignment have the limit of the configuration.',
  access: 'admin',
  output: v.array(LimitAssignment),
  run: service.listAssignments,
})

export const createAssignment = route({
  method: 'POST',
  path: '/api/admin/limits/assignments',
  tag: 'Administration',
  summary: 'Assign a profile to a route, or to all that begin alike',
  description:
    'The path is that of a route as in this document, or a beginning that ends in `*`. Where several fit, the longest counts. There are at most 1,000 (`conflict`).',
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
  summary: 'Take a profile off a route',
  description: 'The route has the limit of the next best assignment then, or that of the configuration.',
  access: 'admin',
  status: 204,
  run: service.deleteAssignment,
})
