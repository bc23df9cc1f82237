import { call } from '../app/api.ts'
import { base } from '../app/base.ts'
import { useMutation } from '../app/use-mutation.ts'
import { Button } from '../ui/button.tsx'
import { Form, FormProblem, TextField } from '../ui/field.tsx'
import { sentenceOf } from '../ui/state.tsx'
import { Gate, tokenOfLink } from './gate.tsx'
import { NewPassword } from './new-password.tsx'

/** The page that the link printed at the first start leads to. It names the workspace and creates its owner. */
export function SetUpPage() {
  const setUp = useMutation({
    meta: { quiet: true },
    mutationFn: async (form: FormData) => {
      const text = (name: string) => String(form.get(name)).trim()
      const login = { email: text('email'), password: String(form.get('password')) }
      await call('POST', '/set-up', {
        body: { token: tokenOfLink(), name: text('name'), accountName: text('workspace'), ...login },
      })
      await call('POST', '/sign-in', { body: login })
    },
    onSuccess: () => location.assign(`${base}/agents`),
  })
  const submit = (fields: FormData): void => setUp.mutate(fields)
  return (
    <Gate title="Welcome to Parley" about="Name the workspace and become its owner.">
      {tokenOfLink() === '' && (
        <FormProblem>
          This address needs the whole link that the start of the service printed, with what stands after #.
        </FormProblem>
      )}
      <Form onSubmit={submit}>
        <TextField label="Workspace" name="workspace" placeholder="Bright Lamps" required maxLength={100} />
        <TextField label="Your name" name="name" autoComplete="name" required maxLength={100} />
        <TextField label="Email" name="email" type="email" autoComplete="username" required />
        <NewPassword />
        {setUp.error && <FormProblem>{sentenceOf(setUp.error)}</FormProblem>}
        <Button kind="primary" type="submit" pending={setUp.isPending}>
          Create the workspace
        </Button>
      </Form>
    </Gate>
  )
}
