"""The figure of risk curves."""

import numpy as np
import pytest

from eigenpath import _optional
from eigenpath.plots import kpm

CURVES = {
    "kpm_n_components": np.arange(1, 6),
    "kpm_test_error": np.array([40.0, 30.0, 25.0, 27.0, 31.0]),
    "kpm_training_error": np.array([40.0, 28.0, 20.0, 15.0, 10.0]),
    "kpm_training_hinge_risk": np.array([90.0, 70.0, 60.0, 50.0, 40.0]),
    "svm_C": np.linspace(0.5, 3, 6),
    "svm_test_error": np.array([40.0, 33.0, 30.0, 28.0, 29.0, 30.0]),
    "svm_training_error": np.linspace(40, 20, 6),
}


def test_both_panels_show_the_curves_they_were_given(tmp_path, monkeypatch):
    figure_module = pytest.importorskip("matplotlib.figure")
    drawn = []

    class Kept(figure_module.Figure):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            drawn.append(self)

    monkeypatch.setattr(figure_module, "Figure", Kept)
    kpm.draw_risk_curves(CURVES, "a set", tmp_path / "figure.png")

    left, right, hinge = drawn[0].axes
    shown = [
        line.get_ydata() for axes in (left, right, hinge) for line in axes.get_lines() if len(line.get_ydata()) > 1
    ]
    names = ["kpm_test_error", "kpm_training_error", "svm_test_error", "svm_training_error", "kpm_training_hinge_risk"]
    for data, name in zip(shown, names, strict=True):
        np.testing.assert_array_equal(data, CURVES[name])
    assert [text.get_text() for axes in (left, right) for text in axes.texts] == ["25.0 % at 3", "28.0 % at 2.00"]
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(_optional, "import_module", missing)

    with pytest.raises(ImportError, match=r"eigenpath\[plot\]"):
        kpm.draw_risk_curves(CURVES, "a set", tmp_path / "figure.png")
