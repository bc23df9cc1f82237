import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { call } from '../app/api.ts'
import { FormProblem } from '../ui/field.tsx'
import { Card, Page } from '../ui/page.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { hideCode, takeAttempt } from './mail-oauth.tsx'

type Outcome = { agentId: string | null; error: string | null }

const LOST = 'This sign-in was begun in another tab or has expired. Begin again on the page of the mailbox.'
const REFUSED = 'You have not permitted the access, so nothing was changed.'

/** Finishes what the page of the mailbox has begun. A code is of use once, so this runs once. */
async function finish(): Promise<Outcome> {
  const said = new URLSearchParams(location.search)
  const kept = takeAttempt()
  hideCode()
  const [state, code, refusal] = ['state', 'code', 'error'].map((name) => said.get(name))
  if (!kept || !state || !(code || refusal)) return { agentId: kept?.agentId ?? null, error: LOST }
  const { agentId, attempt } = kept
  if (!code) {
    const about = said.get('error_description') ?? refusal
    return {
      agentId,
      error: refusal === 'access_denied' ? REFUSED : `The provider has refused it: ${about?.slice(0, 300)}`,
    }
  }
  const params = { agentId }
  try {
    const { error } = await call('PUT', '/agents/{agentId}/email/oauth/permission', {
      params,
      body: { attempt, state, code },
    })
    // The page of the mailbox shows what the test finds.
    if (error === null) await call('POST', '/agents/{agentId}/email/connection/test', { params })
    return { agentId, error }
  } catch (error) {
    return { agentId, error: sentenceOf(error) }
  }
}

/** The page to which the provider of a mailbox sends the browser back. */
export function MailboxSignInPage() {
  const navigate = useNavigate()
  const finished = useQuery({
    queryKey: ['mailbox sign-in'],
    queryFn: finish,
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const { agentId = null, error = null } = finished.data ?? {}
  const isDone = finished.isSuccess && error === null && agentId !== null
  useEffect(() => {
    if (isDone)
      void navigate({
        to: '/agents/$agentId/deploy',
        params: { agentId },
        search: { tab: 'mail' },
        replace: true,
      })
  }, [isDone, agentId, navigate])
  return (
    <Page title="Mailbox">
      <Card>
        {error === null ? (
          <p role="status">The mailbox is being connected …</p>
        ) : (
          <>
            <FormProblem>{error}</FormProblem>
            <p>
              {agentId ? (
                <Link to="/agents/$agentId/deploy" params={{ agentId }} search={{ tab: 'mail' }}>
                  Back to the mailbox
                </Link>
              ) : (
                <Link to="/agents">All agents</Link>
              )}
            </p>
          </>
        )}
      </Card>
    </Page>
  )
}
