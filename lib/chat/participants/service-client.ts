import { useCase } from '../../core/use-case.ts'
import { ParticipantInput } from '../conversations/schema.ts'
import { add } from './service.ts'

/** {@link add} for a client of the service, which names no subject. */
export const addByClient = useCase({ ...add, input: ParticipantInput })
